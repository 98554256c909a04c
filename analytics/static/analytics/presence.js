/* Says at once and every half minute that this item is open, and shows who else has it open or has changed it. */

{
    const EVERY = 30_000;
    const reading = document.querySelector("[data-reading]");
    const readers = reading.querySelector("[data-readers]");
    const token = document.querySelector("[name=csrfmiddlewaretoken]");

    async function tellPresence() {
        const body = new FormData();
        body.set("csrfmiddlewaretoken", token.value);
        let state;
        try {
            const response = await fetch(reading.dataset.reading, { method: "POST", body });
            if (!response.ok) return;
            state = await response.json();
        } catch {
            return; // the next time will do
        }
        const lines = [];
        if (state.version !== Number(reading.dataset.version)) lines.push(readers.dataset.changed);
        if (state.readers.length) lines.push(`${readers.dataset.others} ${state.readers.join(", ")}`);
        readers.textContent = lines.join(" ");
    }

    tellPresence();
    setInterval(() => {
        if (!document.hidden) tellPresence();
    }, EVERY);
    document.addEventListener("visibilitychange", () => {
        if (!document.hidden) tellPresence();
    });
}
