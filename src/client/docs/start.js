const page = document.documentElement;
// Swagger UI's own dark colours.
page.classList.toggle("dark-mode", page.dataset.theme === "dark");
for (const code of document.querySelectorAll("[data-code]"))
  code.textContent = code.textContent.replaceAll("{origin}", location.origin).trimStart();

const button = document.getElementById("language");
const show = (language) => {
  page.lang = language === "zh" ? "zh-CN" : "en";
  button.textContent = language === "zh" ? "English" : "中文";
  button.lang = language === "zh" ? "en" : "zh";
};
show(page.lang === "en" ? "en" : "zh");
button.addEventListener("click", () => {
  const next = page.lang === "en" ? "zh" : "en";
  localStorage.setItem("language", next);
  show(next);
});

// Calls tried here carry the session's cookie and the user-id header, as the console's do.
const user = JSON.parse(localStorage.getItem("user") ?? "null");

/** Model calls first, callbacks of vendors and payment providers last. */
const rank = (tag) => (tag === "relay" ? 0 : tag === "callbacks" ? 2 : 1);

// The quick start stands where Swagger UI has its title; its filter is a landmark of its own.
const ownParts = ({ React }) => ({
  components: { InfoContainer: () => null },
  wrapComponents: {
    FilterContainer: (Filter) => (props) =>
      React.createElement("search", { "aria-label": "API" }, React.createElement(Filter, props)),
  },
});

// By then its script, which comes after this one, has run.
addEventListener("DOMContentLoaded", () =>
  SwaggerUIBundle({
    url: "/api/openapi.json",
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "none",
    filter: true,
    plugins: [ownParts],
    tagsSorter: (a, b) => rank(a) - rank(b) || a.localeCompare(b),
    requestInterceptor: (request) => {
      if (user && request.url.includes("/api/")) request.headers["New-Api-User"] = String(user.id);
      return request;
    },
  }),
);
