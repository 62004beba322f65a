// The page of the API: Swagger UI, from its package, in the frame and the theme of the site.
import { csrfToken } from "./lib/api.js";

const root = document.documentElement;
const device = matchMedia("(prefers-color-scheme: dark)");

function show() {
  root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : device.matches);
}

show();
device.addEventListener("change", show);
document.addEventListener("themechange", show);

const SAID = { loading: "The list of addresses is being read.", failed: "The list of addresses could not be read. Reload the page." };

// Who is signed in needs no token, so that nothing asks for one. An address is text, since it stands within a button;
// what scrolls can be reached by key, without colours of its own; a body has a name.
const frame = ({ React: { createElement } }) => ({
  components: {
    InfoContainer: () => null,
    AuthorizeBtnContainer: () => null,
    authorizeOperationBtn: () => null,
    DeepLink: ({ text }) => createElement("span", null, text),
    SyntaxHighlighter: ({ className, children }) => createElement("pre", { className, tabIndex: 0 }, children),
    // the usual layout has a main, which the page has already
    Page: ({ getComponent, specSelectors }) => createElement("div", { className: "swagger-ui" }, createElement(getComponent("SvgAssets")),
      createElement(getComponent("errors", true)),
      specSelectors.loadingStatus() === "success"
        ? createElement("div", { className: "wrapper" }, createElement(getComponent("operations", true)))
        : createElement("p", { className: "muted" }, SAID[specSelectors.loadingStatus()] ?? SAID.loading)),
    TextArea: (props) => createElement("textarea", { "aria-label": "Body of the request", ...props }),
  },
});

globalThis.SwaggerUIBundle({
  url: document.getElementById("api").dataset.schema,
  dom_id: "#api",
  deepLinking: true,
  layout: "Page",
  defaultModelsExpandDepth: -1,
  presets: [globalThis.SwaggerUIBundle.presets.apis],
  plugins: [frame],
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
