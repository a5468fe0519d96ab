/**
 * A Suno server in memory. Responses follow openxs.apifox.cn/api-222048807 and the Suno-API project's swagger.yaml
 * (November 2026), shortened.
 */
import type { FakeVendor } from "./kit";

export const clip = {
  id: "95afcdae-0719-4e22-9307-7d473b3f8624",
  title: "City Lights",
  status: "complete",
  audio_url: "https://cdn1.suno.ai/95afcdae.mp3",
  video_url: "https://cdn1.suno.ai/95afcdae.mp4",
  image_url: "https://cdn2.suno.ai/image_95afcdae.jpeg",
  metadata: { tags: "electronic", prompt: "[Verse]", duration: 149.2 },
};
export const lyrics = { text: "[Verse]\nLights flash", title: "Dance Fever", status: "complete", tags: ["electronic"] };

export interface SunoTask {
  task_id: string;
  action: string;
  status: string;
  fail_reason: string;
  submit_time: number;
  start_time: number;
  finish_time: number;
  progress: string;
  data: unknown;
}

/** A Suno server: it reports the `tasks` that a test sets. */
export class FakeSuno {
  readonly tasks = new Map<string, SunoTask>();
  #made = 0;

  constructor(readonly vendor: FakeVendor) {
    vendor.on("POST /suno/submit/{action}", ({ params }) => {
      const id = `64dc8d98-5812-40f5-a99b-${String(++this.#made).padStart(12, "0")}`;
      this.tasks.set(id, {
        task_id: id,
        action: params.action ?? "",
        status: "SUBMITTED",
        fail_reason: "",
        submit_time: 1_730_776_470,
        start_time: 0,
        finish_time: 0,
        progress: "0%",
        data: null,
      });
      return { code: "success", message: "", data: id };
    });
    vendor.on("POST /suno/fetch", ({ body }) => ({
      code: "success",
      message: "",
      data: body.ids.flatMap((id: string) => this.tasks.get(id) ?? []),
    }));
  }

  set(id: string, change: Partial<SunoTask>): void {
    const task = this.tasks.get(id);
    if (task) Object.assign(task, change);
  }
}
