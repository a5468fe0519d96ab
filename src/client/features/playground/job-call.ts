/** Submitting a job with the session: the public call's address behind /pg, its body, and its answer's id. */
import type { JobKind } from "../../../shared/job-models";
import { callHeaders } from "../../lib/http";

/** What the form holds; numbers are null while empty. */
export interface JobForm {
  kind: JobKind;
  prompt: string;
  /** Video only. */
  model: string;
  seconds: number | null;
  /** "16:9"; "" leaves it to the vendor. */
  ratio: string;
  /** Music only. */
  title: string;
  tags: string;
  instrumental: boolean;
}

export const emptyJob: JobForm = { kind: "drawing", prompt: "", model: "", seconds: null, ratio: "", title: "", tags: "", instrumental: false };

/** Members that say nothing are left out. */
const said = (members: Readonly<Record<string, string | number | boolean | null>>): Record<string, string | number | boolean> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === null || value === "" || value === false ? [] : [[name, value]])));

const calls: Readonly<Record<JobKind, { path: string; body: (form: JobForm) => object; id: string }>> = {
  drawing: { path: "/pg/mj/submit/imagine", body: ({ prompt }) => ({ prompt }), id: "result" },
  music: {
    path: "/pg/suno/submit/music",
    // With a title or a style the words are the song's own; alone they say what it is to be about.
    body: ({ prompt, title, tags, instrumental }) =>
      said({ [title || tags ? "prompt" : "gpt_description_prompt"]: prompt, title, tags, make_instrumental: instrumental }),
    id: "data",
  },
  lyrics: { path: "/pg/suno/submit/lyrics", body: ({ prompt }) => ({ prompt }), id: "data" },
  video: { path: "/pg/v1/videos", body: ({ prompt, model, seconds, ratio }) => said({ model, prompt, seconds, aspect_ratio: ratio }), id: "id" },
};

/** The call that a form becomes; `group` is the user's choice, which the server takes out. */
export const jobCall = (form: JobForm, group: string): { path: string; body: object } => {
  const { path, body } = calls[form.kind];
  return { path, body: { ...body({ ...form, prompt: form.prompt.trim() }), group } };
};

const member = (value: unknown, key: string): unknown => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined);
const textAt = (value: unknown, key: string): string => {
  const found = member(value, key);
  return typeof found === "string" ? found : "";
};

/** Submits a job and answers the id that its owner knows. Throws an Error with the words of who refused it. */
export async function submitJob(form: JobForm, group: string): Promise<string> {
  const { path, body } = jobCall(form, group);
  const response = await fetch(path, { method: "POST", headers: { ...callHeaders(), "content-type": "application/json" }, body: JSON.stringify(body) });
  const answer: unknown = await response.json().catch(() => undefined);
  const id = textAt(answer, calls[form.kind].id);
  if (response.ok && id) return id;
  const words = textAt(member(answer, "error"), "message") || textAt(answer, "message") || textAt(answer, "description") || textAt(answer, "error");
  throw new Error(words || `${response.status} ${response.statusText}`.trim());
}
