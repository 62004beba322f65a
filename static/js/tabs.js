// On a narrow screen the tabs scroll sideways: the current one is brought into sight.
const current = document.querySelector(".tabs [aria-current]");
const strip = current?.closest(".tabs");
if (strip) strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
