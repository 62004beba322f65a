// Annotators: their table sorts by any column.
import { makeSortable } from "./lib/sortable.js";

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
