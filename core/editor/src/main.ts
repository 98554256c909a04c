// Gives each field of the page that holds Markdown its editor.

import { Editor, type Mode } from "./editor.ts";

const KEY = "marcelcms.editor";

function recall(): Mode {
  try {
    return localStorage.getItem(KEY) === "markdown" ? "markdown" : "formatted";
  } catch {
    return "formatted"; // a browser that stores nothing
  }
}

function remember(mode: Mode): void {
  try {
    localStorage.setItem(KEY, mode);
  } catch {
    // The choice holds for this page.
  }
}

function start(): void {
  for (const field of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-editor]"))
    new Editor(field, recall(), remember);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
