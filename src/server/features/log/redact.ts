/** What a kept request or answer must not contain: keys and passwords, and media, which are large and not readable. */

const HIDDEN = "***";

/** The name of a JSON member whose value is a secret. */
const SECRET_NAME = String.raw`[\w.-]{0,40}(?:api[-_]?key|app[-_]?key|access[-_]?key|secret|passw(?:or)?d|authorization|(?:access|refresh|auth|id|bearer|session)[-_]?token|private[-_]?key|cookie|credentials?)[\w.-]{0,20}`;

/** Each is linear in the length of the text: repetitions are bounded, or cannot begin again inside their own match. */
const RULES: readonly [RegExp, string | ((...found: string[]) => string)][] = [
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
    `[private key ${HIDDEN}]`,
  ],
  [
    /(data:[\w.+-]{1,60}\/[\w.+-]{1,80};base64,)([\w+/=-]*)/g,
    (_, head = "", data = "") => `${head}[${data.length} characters]`,
  ],
  // Base64 without a name: pictures, audio, embeddings, signatures.
  [/(?<![\w+/=-])[\w+/=-]{200,}/g, (found = "") => `[base64, ${found.length} characters]`],
  // A member of JSON; the same inside a JSON text.
  [new RegExp(String.raw`("${SECRET_NAME}"\s{0,9}:\s{0,9}")(?:[^"\\]|\\.)*`, "gi"), `$1${HIDDEN}`],
  [new RegExp(String.raw`(\\"${SECRET_NAME}\\"\s{0,9}:\s{0,9}\\")(?:[^"\\]|\\\\(?:\\"|[^"]))*`, "gi"), `$1${HIDDEN}`],
  [/\b(Bearer|Basic)\s{1,9}[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  // Keys by the prefixes that vendors give them; JSON Web Tokens.
  [
    /\b(sk|pk|rk|tp|ak|gsk|xai|hf|r8|ghp|gho|ghs|github_pat|glpat|xox[abprs]|pplx|nvapi|fw|csk|tvly|jina)([-_])[\w-]{16,}/g,
    `$1$2${HIDDEN}`,
  ],
  [/\b(AKIA|ASIA)[0-9A-Z]{16}\b/g, `$1${HIDDEN}`],
  [/\bAIza[\w-]{30,}/g, `AIza${HIDDEN}`],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, `eyJ${HIDDEN}`],
  [/(:\/\/[^\s/:@"]{0,100}:)[^\s/@"]{1,200}@/g, `$1${HIDDEN}@`],
];

/** The text without secrets and media. */
export function redact(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of RULES) {
    clean = typeof replacement === "string" ? clean.replace(pattern, replacement) : clean.replace(pattern, replacement);
  }
  return clean;
}
