/* How series are told apart without colour: dashes and marks of lines, stripes and dots of bars. */

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2]];
const MARKS = ["circle", "rect", "triangle", "rectRot", "crossRot"];

/** Each further round of the colours has other dashes, marks and strokes beside them: 25 series differ. */
function place(number, length) {
    return (number + Math.floor(number / length)) % length;
}

export function dashes(number) {
    return DASHES[place(number, DASHES.length)];
}

export function mark(number) {
    return MARKS[place(number, MARKS.length)];
}

const SIZE = 8;

const STROKES = [
    () => {},
    (pen) => {
        pen.moveTo(-1, SIZE + 1);
        pen.lineTo(SIZE + 1, -1);
        pen.moveTo(-1, 1);
        pen.lineTo(1, -1);
        pen.moveTo(SIZE - 1, SIZE + 1);
        pen.lineTo(SIZE + 1, SIZE - 1);
    },
    (pen) => {
        pen.moveTo(0, SIZE / 2);
        pen.lineTo(SIZE, SIZE / 2);
    },
    (pen) => {
        pen.moveTo(SIZE / 2, 0);
        pen.lineTo(SIZE / 2, SIZE);
        pen.moveTo(0, SIZE / 2);
        pen.lineTo(SIZE, SIZE / 2);
    },
    (pen) => {
        pen.moveTo(SIZE / 2, 0);
        pen.lineTo(SIZE / 2, SIZE);
    },
];

/** What fills a bar: `colour` with the strokes of series `number` in `ground`, the colour behind the chart. */
export function fill(number, colour, ground) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = SIZE;
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, SIZE, SIZE);
    pen.strokeStyle = ground;
    pen.lineWidth = 1.5;
    pen.beginPath();
    STROKES[place(number, STROKES.length)](pen);
    pen.stroke();
    return pen.createPattern(tile, "repeat");
}
