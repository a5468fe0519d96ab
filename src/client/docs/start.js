// Calls tried here carry the session's cookie and the user-id header, as the console's do.
const user = JSON.parse(localStorage.getItem("user") ?? "null");

SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  requestInterceptor: (request) => {
    if (user && request.url.includes("/api/")) request.headers["New-Api-User"] = String(user.id);
    return request;
  },
});
