// Systems: tables that sort; names beside the charts make their lines stand out (lib/charts.js).
import "./lib/charts.js";
import { makeSortable } from "./lib/sortable.js";

const prepare = () => document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
prepare();
document.addEventListener("htmx:afterSwap", prepare); // the table of systems under training is new
