"use strict";
// The last run over time: spans in rows by depth, and the memory in use below. The wheel zooms, dragging moves.
const data = JSON.parse(document.getElementById("data").textContent);
const time = document.getElementById("time"), memory = document.getElementById("memory");
const said = document.getElementById("said");
const kinds = ["interpreter", "code", "compiling", "deciding", "relaying"];
const ROW = 18, AXIS = 20, HEIGHT_OF_MEMORY = 110;
let from = 0, to = Math.max(data.last, 1), dragged = null;

const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function duration(nanos) {
  const [unit, size] = nanos < 1e3 ? ["ns", 1] : nanos < 1e6 ? ["us", 1e3] : nanos < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return +(nanos / size).toPrecision(4) + " " + unit;
}

function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let k = 0;
  while (count >= 1000 && k + 1 < units.length) { count /= 1000; k++; }
  return +count.toPrecision(3) + " " + units[k];
}

// A canvas of this height in pixels of the screen; gives what draws on it, and its width.
function prepared(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return [pen, width];
}

const depth = data.spans.reduce((most, span) => Math.max(most, span[2] + 1), 1);

function drawTime() {
  const [pen, width] = prepared(time, AXIS + Math.min(depth, 24) * ROW + 4);
  const scale = width / (to - from), ink = colour("ink"), paper = colour("paper");
  drawAxis(pen, width);
  for (const [begin, end, level, task] of data.spans) {
    if (end < from || begin > to) continue;
    const left = Math.max((begin - from) * scale, 0), right = Math.min((end - from) * scale, width);
    const wide = Math.max(right - left, 0.5), top = AXIS + level * ROW;
    pen.fillStyle = colours[data.tasks[task][2]];
    pen.fillRect(left, top, Math.max(wide - 0.5, 0.5), ROW - 2);
    if (wide > 40) {
      pen.save();
      pen.beginPath();
      pen.rect(left, top, wide - 4, ROW);
      pen.clip();
      pen.fillStyle = paper;
      pen.fillText(data.tasks[task][0], left + 4, top + ROW / 2);
      pen.restore();
    }
  }
  pen.fillStyle = ink;
}

function drawAxis(pen, width) {
  const about = (to - from) / Math.max(width / 110, 1), power = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5, 10].map(n => n * power).find(step => step >= about);
  const scale = width / (to - from);
  pen.strokeStyle = colour("line");
  pen.fillStyle = colour("soft");
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = (at - from) * scale;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, 4000);
    pen.stroke();
    pen.fillText(duration(at), x + 4, AXIS / 2);
  }
}

function drawMemory() {
  if (!memory) return;
  const [pen, width] = prepared(memory, HEIGHT_OF_MEMORY);
  const scale = width / (to - from), most = Math.max(...data.memory.map(point => point[1]), 1);
  const y = count => HEIGHT_OF_MEMORY - 6 - count / most * (HEIGHT_OF_MEMORY - 28);
  pen.beginPath();
  pen.moveTo(0, HEIGHT_OF_MEMORY);
  let last = 0;
  for (const [at, count] of data.memory) {
    const x = (at - from) * scale;
    pen.lineTo(x, y(last));
    pen.lineTo(x, y(count));
    last = count;
  }
  const end = (data.last - from) * scale;
  pen.lineTo(end, y(last));
  pen.lineTo(end, HEIGHT_OF_MEMORY);
  pen.closePath();
  pen.globalAlpha = 0.35;
  pen.fillStyle = colour("relaying");
  pen.fill();
  pen.globalAlpha = 1;
  pen.fillStyle = colour("soft");
  pen.fillText("memory of values, at most " + bytes(most), 6, 11);
}

let colours = [];

function draw() {
  colours = kinds.map(colour);
  drawTime();
  drawMemory();
}

function spanAt(event) {
  const box = time.getBoundingClientRect();
  const at = from + (event.clientX - box.left) / box.width * (to - from);
  const level = Math.floor((event.clientY - box.top - AXIS) / ROW);
  const near = (to - from) / box.width;
  return data.spans.find(span => span[2] === level && span[0] <= at + near && span[1] >= at - near);
}

function moved(by) {
  const wide = to - from;
  from = Math.min(Math.max(from + by, 0), Math.max(data.last - wide, 0));
  to = from + wide;
}

time.addEventListener("wheel", event => {
  event.preventDefault();
  const box = time.getBoundingClientRect(), part = (event.clientX - box.left) / box.width;
  const at = from + part * (to - from), factor = event.deltaY < 0 ? 0.8 : 1.25;
  const wide = Math.min(Math.max((to - from) * factor, 100), Math.max(data.last, 1));
  from = at - part * wide;
  to = from + wide;
  moved(0);
  draw();
}, { passive: false });
time.addEventListener("pointerdown", event => { dragged = event.clientX; time.setPointerCapture(event.pointerId); });
time.addEventListener("pointerup", () => { dragged = null; });
time.addEventListener("dblclick", () => { from = 0; to = Math.max(data.last, 1); draw(); });
time.addEventListener("pointermove", event => {
  if (dragged !== null) {
    moved((dragged - event.clientX) / time.clientWidth * (to - from));
    dragged = event.clientX;
    draw();
    return;
  }
  const span = spanAt(event);
  if (!span) return;
  const [name, where] = data.tasks[span[3]];
  said.textContent = `${name}${where ? ", " + where : ""}: ${duration(span[1] - span[0])}, from ${duration(span[0])} on`;
});
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
