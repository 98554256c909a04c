/* Judges a held-back sentence without leaving the page, so that what was typed beside it stays. Without this script, or
   if the server does not answer as expected, the button sends its form as usual. */

function setUpHeldBack() {
    let isSentAsUsual = false;

    function sendAsUsual(button) {
        isSentAsUsual = true;
        button.form.requestSubmit(button);
    }

    async function judge(button) {
        const place = button.closest("[data-judgement]");
        const body = new FormData(button.form, button);
        let response;
        try {
            response = await fetch(button.formAction, { method: "POST", body, headers: { "X-Requested-With": "fetch" } });
        } catch {
            sendAsUsual(button);
            return;
        }
        if (response.redirected || !(response.ok || response.status === 409)) {
            sendAsUsual(button);
            return;
        }
        const made = document.createElement("template");
        made.innerHTML = await response.text();
        const judgement = made.content.querySelector("[data-judgement]");
        place.replaceWith(judgement);
        judgement.querySelector("button").focus();
    }

    document.addEventListener("submit", (event) => {
        if (event.target.id !== "held-back-form" || isSentAsUsual) return;
        event.preventDefault();
        judge(event.submitter);
    });
}

setUpHeldBack();
