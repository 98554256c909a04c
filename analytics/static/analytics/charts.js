/* Draws the dashboard's charts from the numbers in the page. Without this script their tables hold the same. */

import { DASHES, MARKS, fill } from "./dashboard_patterns.js";

const COLOURS = 5;
const language = document.documentElement.lang || "en";
const exact = new Intl.NumberFormat(language);
const short = new Intl.NumberFormat(language, { notation: "compact" });
const onPaper = matchMedia("print");
const page = document.querySelector(".figures-page");

function palette() {
    const style = getComputedStyle(page);
    const of = (name) => style.getPropertyValue(name).trim();
    return {
        series: Array.from({ length: COLOURS }, (_, number) => of(`--series-${number + 1}`)),
        text: of("--chart-text"),
        grid: of("--chart-grid"),
        ground: of("--chart-ground"),
        font: style.fontFamily,
    };
}

function dataset(series, number, kind, colours) {
    const colour = colours.series[number % COLOURS];
    const isLine = kind === "line" || (kind === "hours" && number > 0);
    const common = { label: series.label, data: series.values, borderColor: colour };
    if (isLine) {
        return {
            ...common,
            type: "line",
            borderWidth: 2,
            borderDash: DASHES[number % DASHES.length],
            pointStyle: MARKS[number % MARKS.length],
            pointRadius: series.values.length > 60 ? 0 : 3,
            pointHoverRadius: 6,
            pointBackgroundColor: colour,
            backgroundColor: colour,
            tension: 0,
            order: 0,
        };
    }
    return {
        ...common,
        type: "bar",
        backgroundColor: fill(number, colour, colours.ground),
        borderWidth: 1,
        maxBarThickness: 32,
        pointStyle: "rect",
        order: 1,
    };
}

function options(drawn, colours) {
    const isLying = drawn.kind === "horizontal";
    const isStacked = drawn.kind === "stacked";
    const numbers = {
        beginAtZero: true,
        stacked: isStacked,
        grid: { color: colours.grid },
        border: { display: false },
        ticks: {
            color: colours.text,
            precision: 0,
            maxTicksLimit: 6,
            callback: (value) => (value >= 10_000 ? short.format(value) : exact.format(value)),
        },
    };
    const names = {
        stacked: isStacked,
        grid: { display: false },
        border: { color: colours.text },
        ticks: { color: colours.text, maxRotation: 0, autoSkip: !isLying, autoSkipPadding: 14 },
    };
    return {
        responsive: true,
        maintainAspectRatio: false,
        animation: false,
        indexAxis: isLying ? "y" : "x",
        interaction: { mode: "index", intersect: false, axis: isLying ? "y" : "x" },
        font: { family: colours.font },
        scales: isLying ? { x: numbers, y: names } : { x: names, y: numbers },
        onClick: (_event, found) => {
            if (found.length) {
                follow(drawn, found[0].index);
            }
        },
        onHover: (event, found) => {
            event.native.target.style.cursor = found.length && drawn.links.length ? "pointer" : "default";
        },
        plugins: {
            legend: {
                display: drawn.series.length > 1,
                position: "bottom",
                align: "start",
                labels: {
                    sort: (one, other) => one.datasetIndex - other.datasetIndex,
                    color: colours.text,
                    usePointStyle: drawn.kind === "line",
                    boxWidth: drawn.kind === "line" ? 10 : 28,
                    boxHeight: 10,
                    padding: 14,
                },
            },
            tooltip: {
                callbacks: { label: (item) => ` ${item.dataset.label}: ${told(item.raw)}` },
            },
        },
    };
}

function told(value) {
    return value === null ? "–" : exact.format(value);
}

function follow(drawn, index) {
    if (drawn.links[index]) {
        location.assign(drawn.links[index]);
    }
}

function describe(drawn, index) {
    const values = drawn.series.map((series) => `${series.label} ${told(series.values[index])}`);
    return `${drawn.labels[index]}: ${values.join(", ")}`;
}

/** Arrow keys go from point to point, Enter to the conversations behind it. */
function withKeys(chart, canvas, drawn, said) {
    let at = -1;

    function show(index) {
        at = index;
        const active = index < 0 ? [] : drawn.series.map((_, number) => ({ datasetIndex: number, index }));
        chart.setActiveElements(active);
        chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
        chart.update("none");
        said.textContent = index < 0 ? "" : describe(drawn, index);
    }

    canvas.addEventListener("keydown", (event) => {
        const last = drawn.labels.length - 1;
        const forward = Math.min(last, at + 1);
        const back = at < 0 ? last : Math.max(0, at - 1);
        const places = {
            ArrowRight: forward,
            ArrowDown: forward,
            ArrowLeft: back,
            ArrowUp: back,
            Home: 0,
            End: last,
            Escape: -1,
        };
        if (event.key in places) {
            event.preventDefault();
            show(places[event.key]);
        } else if (event.key === "Enter" && at >= 0) {
            follow(drawn, at);
        }
    });
    canvas.addEventListener("blur", () => show(-1));
}

const made = [];

function paint(chart, drawn) {
    const colours = palette();
    chart.data.datasets = drawn.series.map((series, number) => dataset(series, number, drawn.kind, colours));
    chart.options = options(drawn, colours);
    chart.update("none");
}

function draw(figure) {
    const drawn = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const area = figure.querySelector("[data-chart-area]");
    area.hidden = false;
    const colours = palette();
    const canvas = area.querySelector("canvas");
    const chart = new Chart(canvas, {
        type: drawn.kind === "line" ? "line" : "bar",
        data: {
            labels: drawn.labels,
            datasets: drawn.series.map((series, number) => dataset(series, number, drawn.kind, colours)),
        },
        options: options(drawn, colours),
    });
    withKeys(chart, canvas, drawn, figure.querySelector("[data-chart-point]"));
    made.push([chart, drawn]);
}

function repaint() {
    for (const [chart, drawn] of made) {
        paint(chart, drawn);
    }
}

/** Paper is white, whatever the screen's theme, and cannot be unfolded. */
function toPaper(isPaper) {
    page.classList.toggle("figures-page--paper", isPaper);
    for (const details of page.querySelectorAll("details")) {
        details.open = isPaper;
    }
    repaint();
}

for (const figure of document.querySelectorAll("[data-chart]")) {
    draw(figure);
}
new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
onPaper.addEventListener("change", () => toPaper(onPaper.matches));
