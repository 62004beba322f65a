// Pool pages with charts: their tables sort, their charts answer.
import "./lib/charts.js";
import { makeSortable } from "./lib/sortable.js";

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
