/** Submitting a job with the session: the public call's address behind /pg, its body, and its answer's id. */
import { type JobKind, jobInputs } from "../../../shared/job-models";
import { callHeaders } from "../../lib/http";

/** What the form holds; numbers are null while empty. */
export interface JobForm {
  kind: JobKind;
  prompt: string;
  /** Pictures to begin with, as data: URLs. */
  images: readonly string[];
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

export const emptyJob: JobForm = {
  kind: "drawing",
  prompt: "",
  images: [],
  model: "",
  seconds: null,
  ratio: "",
  title: "",
  tags: "",
  instrumental: false,
};

/** Members that say nothing are left out. */
const said = (
  members: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>,
): object =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== "" &&
        value !== false &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );

const calls: Readonly<Record<JobKind, { path: string; body: (form: JobForm) => object; id: string }>> = {
  drawing: {
    path: "/pg/mj/submit/imagine",
    body: ({ prompt, images }) => said({ prompt, base64Array: images }),
    id: "result",
  },
  blend: { path: "/pg/mj/submit/blend", body: ({ images }) => ({ base64Array: images }), id: "result" },
  describe: { path: "/pg/mj/submit/describe", body: ({ images: [base64] }) => said({ base64 }), id: "result" },
  music: {
    path: "/pg/suno/submit/music",
    // With a title or a style the words are the song's own; alone they say what it is to be about.
    body: ({ prompt, title, tags, instrumental }) =>
      said({
        [title || tags ? "prompt" : "gpt_description_prompt"]: prompt,
        title,
        tags,
        make_instrumental: instrumental,
      }),
    id: "data",
  },
  lyrics: { path: "/pg/suno/submit/lyrics", body: ({ prompt }) => ({ prompt }), id: "data" },
  video: {
    path: "/pg/v1/videos",
    body: ({ prompt, images, model, seconds, ratio }) =>
      said({
        model,
        prompt,
        ...(images.length === 1 ? { image: images[0] } : { images }),
        seconds,
        aspect_ratio: ratio,
      }),
    id: "id",
  },
};

/** The call that a form becomes; `group` is the user's choice, which the server takes out. */
export const jobCall = (form: JobForm, group: string): { path: string; body: object } => {
  const { path, body } = calls[form.kind];
  const images = form.images.slice(0, jobInputs[form.kind].most);
  return { path, body: { ...body({ ...form, images, prompt: form.prompt.trim() }), group } };
};

/** Everything is there that a job of its kind needs. */
export function canSubmit({ kind, prompt, images }: JobForm): boolean {
  const { prompt: words, least } = jobInputs[kind];
  if (images.length < least) return false;
  return words === "none" || prompt.trim() !== "" || (words === "unless" && images.length > 0);
}

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
const textAt = (value: unknown, key: string): string => {
  const found = member(value, key);
  return typeof found === "string" ? found : "";
};

/** A refused job, with the refusal's message. After any other error the job may have been accepted. */
export class JobRefused extends Error {
  override readonly name = "JobRefused";
}

/**
 * Submits a job and answers the id that its owner knows. Said again under the same `key` it is the same job, charged
 * once. Throws JobRefused, and what `fetch` throws when no answer came.
 */
export async function submitJob(form: JobForm, group: string, key: string): Promise<string> {
  const { path, body } = jobCall(form, group);
  const headers = { ...callHeaders(), "content-type": "application/json", "idempotency-key": key };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer: unknown = await response.json().catch(() => undefined);
  const id = textAt(answer, calls[form.kind].id);
  if (response.ok && id) return id;
  const words =
    textAt(member(answer, "error"), "message") ||
    textAt(answer, "message") ||
    textAt(answer, "description") ||
    textAt(answer, "error");
  throw new JobRefused(words || `${response.status} ${response.statusText}`.trim());
}
