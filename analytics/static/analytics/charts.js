/* Draws the charts of a page from the numbers in it. Without this script their tables hold the same. */

import { dashes, fill, mark } from "./chart_patterns.js";

const COLOURS = 5;
const LONGEST_NAME = 26;
const language = document.documentElement.lang || "en";
const exact = new Intl.NumberFormat(language);
const short = new Intl.NumberFormat(language, { notation: "compact" });
const onPaper = matchMedia("print");
const page = document.documentElement;

function palette() {
    const style = getComputedStyle(page);
    const of = (name) => style.getPropertyValue(name).trim();
    return {
        series: Array.from({ length: COLOURS }, (_, number) => of(`--series-${number + 1}`)),
        text: of("--chart-text"),
        grid: of("--chart-grid"),
        ground: of("--chart-ground"),
        font: getComputedStyle(document.body).fontFamily,
    };
}

function isLines(kind) {
    return kind === "line" || kind === "measure";
}

function dataset(series, number, kind, colours) {
    const colour = colours.series[number % COLOURS];
    const isLine = isLines(kind) || (kind === "hours" && number > 0);
    const common = { label: series.label, data: series.values, borderColor: colour };
    if (isLine) {
        return {
            ...common,
            type: "line",
            borderWidth: 2,
            borderDash: dashes(number),
            pointStyle: mark(number),
            pointRadius: series.values.length > 60 ? 0 : 3,
            pointHoverRadius: 6,
            pointBackgroundColor: colour,
            backgroundColor: colour,
            tension: 0,
            spanGaps: kind === "measure",
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
    const isMeasure = drawn.kind === "measure";
    const numbers = {
        beginAtZero: !isMeasure,
        ...(drawn.top ? { suggestedMax: drawn.top } : {}),
        stacked: isStacked,
        grid: { color: colours.grid },
        border: { display: false },
        ticks: {
            color: colours.text,
            ...(isMeasure ? {} : { precision: 0 }),
            maxTicksLimit: 6,
            callback: (value) => (value >= 10_000 ? short.format(value) : exact.format(value)),
        },
    };
    const names = {
        stacked: isStacked,
        grid: { display: false },
        border: { color: colours.text },
        ticks: {
            color: colours.text,
            maxRotation: 0,
            autoSkip: !isLying,
            autoSkipPadding: 14,
            callback: (value) => shortened(drawn.labels[value]),
        },
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
        layout: { padding: { top: drawn.marks ? 8 : 0 } },
        plugins: {
            marks: { drawn, colour: colours.text },
            legend: {
                display: drawn.series.length > 1,
                position: "bottom",
                align: "start",
                labels: {
                    sort: (one, other) => one.datasetIndex - other.datasetIndex,
                    color: colours.text,
                    usePointStyle: isLines(drawn.kind),
                    boxWidth: isLines(drawn.kind) ? 10 : 28,
                    boxHeight: 10,
                    padding: 14,
                },
            },
            tooltip: {
                callbacks: {
                    label: (item) => ` ${item.dataset.label}: ${formatted(item.raw)}`,
                    footer: (items) => (items.length ? happened(drawn, items[0].dataIndex) : []),
                },
            },
        },
    };
}

function happened(drawn, index) {
    return drawn.marks?.[index] ?? [];
}

/** A dashed line with a flag where something happened that may explain the figures. */
const marks = {
    id: "marks",
    afterDatasetsDraw(chart, _drawing, { drawn, colour }) {
        const { ctx: pen, chartArea: area, scales } = chart;
        drawn.labels.forEach((_label, index) => {
            if (!happened(drawn, index).length) {
                return;
            }
            const x = scales.x.getPixelForValue(index);
            pen.save();
            pen.strokeStyle = pen.fillStyle = colour;
            pen.setLineDash([2, 3]);
            pen.beginPath();
            pen.moveTo(x, area.top);
            pen.lineTo(x, area.bottom);
            pen.stroke();
            pen.beginPath();
            pen.moveTo(x - 4, area.top - 7);
            pen.lineTo(x + 4, area.top - 7);
            pen.lineTo(x, area.top);
            pen.fill();
            pen.restore();
        });
    },
};

function shortened(name) {
    return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

function formatted(value) {
    return value === null ? "–" : exact.format(value);
}

function follow(drawn, index) {
    if (drawn.links[index]) {
        location.assign(drawn.links[index]);
    }
}

function describe(drawn, index) {
    const values = drawn.series.map((series) => `${series.label} ${formatted(series.values[index])}`);
    return [`${drawn.labels[index]}: ${values.join(", ")}`, ...happened(drawn, index)].join("; ");
}

/** Arrow keys go from point to point, Enter to what is behind it. */
function addKeys(chart, canvas, drawn, status) {
    let at = -1;

    function show(index) {
        at = index;
        const active = index < 0 ? [] : drawn.series.map((_, number) => ({ datasetIndex: number, index }));
        chart.setActiveElements(active);
        chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
        chart.update("none");
        status.textContent = index < 0 ? "" : describe(drawn, index);
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

const charts = [];

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
    if (drawn.kind === "horizontal") {
        area.style.height = `${5 + 2.5 * drawn.labels.length}rem`;
    }
    const colours = palette();
    const canvas = area.querySelector("canvas");
    const chart = new Chart(canvas, {
        type: isLines(drawn.kind) ? "line" : "bar",
        data: {
            labels: drawn.labels,
            datasets: drawn.series.map((series, number) => dataset(series, number, drawn.kind, colours)),
        },
        options: options(drawn, colours),
        plugins: drawn.marks ? [marks] : [],
    });
    addKeys(chart, canvas, drawn, figure.querySelector("[data-chart-point]"));
    charts.push([chart, drawn]);
}

function repaint() {
    for (const [chart, drawn] of charts) {
        paint(chart, drawn);
    }
}

/** Paper is white, whatever the screen's theme, and cannot be unfolded. */
function switchPaper(isPaper) {
    page.classList.toggle("on-paper", isPaper);
    for (const details of page.querySelectorAll(".chart__table")) {
        details.open = isPaper;
    }
    repaint();
}

for (const figure of document.querySelectorAll("[data-chart]")) {
    draw(figure);
}
new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
onPaper.addEventListener("change", () => switchPaper(onPaper.matches));
