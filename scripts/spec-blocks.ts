/** Finds tests and statements in formatted source by its indentation: cheap, and no parser has to be carried. */

export interface Block {
  start: number;
  /** Last line, the closing bracket's. */
  end: number;
}

export interface NamedBlock extends Block {
  name: string;
  isTest: boolean;
  isFunction: boolean;
}

const TEST = /^\s*(?:test|it)(?:\.\w+)*(?:<.*>)?\(/;
const DESCRIBE = /^\s*describe(?:\.\w+)*(?:<.*>)?\(/;
const FUNCTION = /^\s*(?:export )?(?:async )?function (\w+)/;
const ARROW = /^\s*(?:export )?const (\w+) = (?:async )?(?:<.*>)?\(/;
const CONSTANT = /^(?:export )?const (\w+)/;
/** What fails by itself: expectations, and waits for what has to come. */
const ASSERTS =
  /\b(?:expect\w*|assert\w*|becomes|eventually|until|looksRight|waitFor\w*|find(?:All)?By\w+)(?:\.\w+)?(?:<[^()]*>)?\(/;
/** The same of a function of the file; one that waits for a page, as those that open it do, asserts nothing. */
const HELPER_ASSERTS = /\b(?:expect\w*|becomes|eventually|until)(?:<[^()]*>)?\(/;

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The statement that begins at a line: what is indented deeper, and the lines that close it. */
export function blockAt(lines: string[], start: number): Block {
  const indent = indentOf(lines[start] ?? "");
  let end = start;
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line.trim() === "") continue;
    const closes = indentOf(line) === indent && /^\s*[)\]}`]/.test(line);
    if (indentOf(line) <= indent && !closes) break;
    end = index;
  }
  return { start, end };
}

/**
 * The nearest test or group of tests that holds a line (or begins there), else the outermost function around it, else
 * the constant whose value it stands in.
 */
export function enclosing(lines: string[], at: number): NamedBlock | undefined {
  let indent = indentOf(lines[at] ?? "") + 1;
  let helper: NamedBlock | undefined;
  for (let start = at; start >= 0; start--) {
    const line = lines[start] ?? "";
    if (line.trim() === "" || indentOf(line) >= indent) continue;
    // The bracket between a table and its test is a sibling of its first line.
    if (!/^\s*[)\]}]/.test(line)) indent = indentOf(line);
    const found = named(lines, start);
    if (!found || found.end < at) continue;
    if (!found.isFunction) return found;
    helper = found;
  }
  return helper ?? constantAround(lines, at);
}

function constantAround(lines: string[], at: number): NamedBlock | undefined {
  let start = at;
  while (start > 0 && (lines[start] === "" || /^[\s)\]}]/.test(lines[start] ?? ""))) start--;
  const name = CONSTANT.exec(lines[start] ?? "")?.[1];
  const block = blockAt(lines, start);
  return name === undefined || start === at || block.end < at
    ? undefined
    : { ...block, isTest: false, isFunction: true, name };
}

function named(lines: string[], start: number): NamedBlock | undefined {
  const line = lines[start] ?? "";
  const isTest = TEST.test(line);
  if (isTest || DESCRIBE.test(line)) {
    const block = blockAt(lines, start);
    return { ...block, isTest, isFunction: false, name: nameOf(lines.slice(block.start, block.end + 1).join("\n")) };
  }
  const name = (FUNCTION.exec(line) ?? ARROW.exec(line))?.[1];
  return name === undefined ? undefined : { ...blockAt(lines, start), isTest: false, isFunction: true, name };
}

/** The first argument of `test(...)`, or of what `test.each(...)` returns. */
function nameOf(text: string): string {
  let at = text.indexOf("(");
  if (/^\s*\w+\.(?:\w+\.)*(?:each|skipIf|todoIf|if)(?:<.*>)?$/.test(text.slice(0, at))) at = closing(text, at) + 1;
  const [, quote, name = ""] = /^\s*\(?\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/s.exec(text.slice(at)) ?? [];
  return quote === undefined ? text.slice(at, at + 60).trim() : name.replaceAll("\\", "");
}

/** Where the bracket that opens at `from` closes; brackets in texts do not count. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (/["'`]/.test(sign)) {
      for (at++; at < text.length && text[at] !== sign; at++) if (text[at] === "\\") at++;
    } else if (text.startsWith("//", at)) {
      at = text.indexOf("\n", at);
      if (at < 0) break;
    } else if (sign === "(") depth++;
    else if (sign === ")" && --depth === 0) return at;
  }
  return text.length;
}

/** Tests and groups that use the table (`const NAME = …`) in which a line stands. */
export function tableUsers(lines: string[], at: number): NamedBlock[] {
  let start = at;
  while (start > 0 && !/^\s*(?:export )?const \w+/.test(lines[start] ?? "")) start--;
  const name = /const (\w+)/.exec(lines[start] ?? "")?.[1];
  if (name === undefined || blockAt(lines, start).end < at) return [];
  const uses = new RegExp(`\\b${name}\\b`);
  const blocks = lines.flatMap((line, index) =>
    TEST.test(line) || DESCRIBE.test(line) ? (named(lines, index) ?? []) : [],
  );
  const users = blocks.filter((block) => lines.slice(block.start, block.end + 1).some((line) => uses.test(line)));
  return [...users.filter(({ isTest }) => isTest), ...users.filter(({ isTest }) => !isTest)];
}

/** Tells whether a text asserts, by itself or through a function of the same file that does. */
export function assertingFunctions(lines: string[]): (text: string) => boolean {
  const names = lines.flatMap((line, index) => {
    const name = (FUNCTION.exec(line) ?? ARROW.exec(line))?.[1];
    if (name === undefined) return [];
    const { start, end } = blockAt(lines, index);
    const body = lines.slice(start, end + 1).join("\n");
    return HELPER_ASSERTS.test(body.replace(name, "")) ? [name] : [];
  });
  if (names.length === 0) return (text) => ASSERTS.test(text);
  const called = new RegExp(`\\b(?:${names.join("|")})(?:<[^()]*>)?\\(`);
  return (text) => ASSERTS.test(text) || called.test(text);
}
