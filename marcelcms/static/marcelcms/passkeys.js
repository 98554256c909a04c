// Has the browser make a passkey, or prove one, and sends what it says with the form.

const toBytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

const toText = (bytes) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replaceAll("=", "");

const withBytes = (credentials = []) => credentials.map((each) => ({ ...each, id: toBytes(each.id) }));

/** Everything of the reply that is bytes, as text. */
function asJson({ id, rawId, type, response }) {
    const names = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
    const parts = names.filter((name) => response[name]).map((name) => [name, toText(response[name])]);
    return JSON.stringify({ id, rawId: toText(rawId), type, response: Object.fromEntries(parts) });
}

async function make(options) {
    const publicKey = {
        ...options,
        challenge: toBytes(options.challenge),
        user: { ...options.user, id: toBytes(options.user.id) },
        excludeCredentials: withBytes(options.excludeCredentials),
    };
    return navigator.credentials.create({ publicKey });
}

async function prove(options) {
    const publicKey = {
        ...options,
        challenge: toBytes(options.challenge),
        allowCredentials: withBytes(options.allowCredentials),
    };
    return navigator.credentials.get({ publicKey });
}

/** The options, or null if the service refuses them, which is then said. */
async function askFor(form, say) {
    const reply = await fetch(form.dataset.address, { method: "POST", body: new FormData(form) });
    const found = await reply.json();
    if (reply.ok) {
        return found;
    }
    say(found.said);
    return null;
}

for (const form of document.querySelectorAll("[data-passkey]")) {
    const said = form.querySelector("[data-said]");
    const say = (text) => {
        said.textContent = text;
        said.hidden = !text;
    };
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (!window.PublicKeyCredential) {
            say(form.dataset.unable);
            return;
        }
        say("");
        try {
            const adds = form.dataset.passkey === "add";
            const options = adds ? await askFor(form, say) : JSON.parse(form.dataset.options);
            if (options) {
                form.elements.credential.value = asJson(await (adds ? make : prove)(options));
                form.submit();
            }
        } catch {
            // Cancelled, timed out, or the network is away: the browser says no more.
            say(form.dataset.failed);
        }
    });
}
