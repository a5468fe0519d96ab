import "../../../tests/dom";
import { describe, expect, test } from "bun:test";
import { accessOf, findPage, menuPages } from "../paths";
import { judge } from "./guard";
import { loginPath, pathAfterLogin } from "./login-path";

const at = { pathname: "/channel", search: "?status=3" };

describe("guards", () => {
  test("a stranger on a protected page goes to the login page and comes back after it", () => {
    const verdict = judge("admin", null, at);
    expect(verdict).toEqual({ kind: "redirect", to: "/login?redirect=%2Fchannel%3Fstatus%3D3" });
    // spec: C-565
    expect(pathAfterLogin("?redirect=%2Fchannel%3Fstatus%3D3")).toBe("/channel?status=3");
  });

  test("a user without the role sees the no-permission page and is not sent away", () => {
    // spec: D-57
    expect(judge("admin", { role: 1 }, at)).toEqual({ kind: "forbidden" });
    // spec: A-001
    expect(judge("root", { role: 10 }, at)).toEqual({ kind: "forbidden" });
  });

  test("each role opens its own pages and those below", () => {
    expect(judge("user", { role: 1 }, at).kind).toBe("allow");
    // spec: A-094
    expect(judge("admin", { role: 10 }, at).kind).toBe("allow");
    // spec: A-002
    expect(judge("admin", { role: 100 }, at).kind).toBe("allow");
    // spec: A-002
    expect(judge("root", { role: 100 }, at).kind).toBe("allow");
    expect(judge("public", null, at).kind).toBe("allow");
  });

  test.each([
    "/channel",
    "/channel/add",
    "/channel/edit/1",
    "/token",
    "/playground",
    "/redemption",
    "/topup",
    "/log",
    "/detail",
    "/midjourney",
    "/task",
    "/chat",
    "/chat/0",
    "/chat2link",
    "/user",
    "/setting",
  ])("%s needs a login", (path) => {
    expect(judge(accessOf(path), null, { pathname: path, search: "" }).kind).toBe("redirect");
  });

  test.each(["/", "/pricing", "/about", "/login", "/register", "/reset", "/user/reset", "/oauth/github", "/no/such"])(
    "%s is open to strangers",
    (path) => {
      expect(judge(accessOf(path), null, { pathname: path, search: "" }).kind).toBe("allow");
    },
  );

  test.each(["/channel", "/channel/edit/1", "/redemption", "/user", "/user/edit/3"])(
    "%s tells an ordinary user that he may not",
    (path) => {
      // spec: A-094, D-04, D-57
      expect(judge(accessOf(path), { role: 1 }, { pathname: path, search: "" }).kind).toBe("forbidden");
    },
  );

  test("after a login only our own pages are reached, and without a wish the tokens", () => {
    expect(pathAfterLogin("")).toBe("/token");
    expect(pathAfterLogin("?redirect=//evil.example")).toBe("/token");
    expect(pathAfterLogin("?redirect=https://evil.example")).toBe("/token");
    expect(pathAfterLogin("?redirect=/%5Cevil.example")).toBe("/token");
    expect(pathAfterLogin("?redirect=/login?expired=true")).toBe("/token");
  });

  test("an expired session says so in the address and keeps the page asked for", () => {
    // spec: C-565
    expect(loginPath({ pathname: "/log", search: "?p=2" }, { expired: true })).toBe(
      "/login?expired=true&redirect=%2Flog%3Fp%3D2",
    );
    expect(loginPath({ pathname: "/login", search: "" }, { expired: true })).toBe("/login?expired=true");
  });
});

describe("the menu", () => {
  const paths = (role: number) => menuPages(role).map(({ path }) => path);

  test("offers the list of users to administrators alone", () => {
    // spec: A-094
    expect([1, 10, 100].map((role) => paths(role).includes("/user"))).toEqual([false, true, true]);
  });

  test("offers the dashboard while the operator has it on", () => {
    for (const flag of ["true", "false"]) {
      localStorage.setItem("enable_data_export", flag);
      // spec
      expect(paths(1).includes("/detail")).toBe(flag === "true");
    }
    localStorage.clear();
  });
});

describe("the route list", () => {
  test("every menu item leads to a page of the list", () => {
    // spec: C-196
    for (const page of menuPages(100)) expect(findPage(page.path)?.page).toBe(page);
  });

  test("channels, codes and users stand in the menu of administrators alone", () => {
    const closed: string[] = ["/channel", "/redemption", "/user"];
    const offered = (role: number) => menuPages(role).flatMap(({ path }) => (closed.includes(path) ? [path] : []));
    // spec: C-452
    expect([0, 1, 9].map(offered)).toEqual([[], [], []]);
    // spec: C-452
    for (const role of [10, 100]) expect<string[]>(offered(role).sort()).toEqual(closed);
  });

  test("an address that no page has is found by none", () => {
    expect(findPage("/no-such-page")).toBeNull();
    expect(findPage("/")?.page.path).toBe("/");
  });
});
