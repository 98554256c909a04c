/* A comment that was begun is not lost by a button of another form. */
{
    let sent = null;
    document.addEventListener("submit", (event) => {
        sent = event.target;
    });
    window.addEventListener("beforeunload", (event) => {
        const fields = [...document.querySelectorAll("form textarea")];
        if (fields.some((each) => each.form !== sent && each.value !== each.defaultValue)) event.preventDefault();
    });
}
