/**
 * Times to the first token in milliseconds, as they were measured of two vendors of the same model (Llama 2 70B chat,
 * 550 tokens in, about 150 out), in the order of the calls: the first 41 of each.
 *
 * Source: github.com/ray-project/llmperf-leaderboard, raw_data/individual/together_70b.json and anyscale_70b.json at
 * commit 5016c0a (ttft_s, rounded; read November 2026).
 */
export const RECORDED_LATENCIES: Readonly<Record<string, readonly number[]>> = {
  together: [
    778, 891, 574, 563, 760, 754, 866, 531, 654, 536, 612, 737, 546, 652, 539, 733, 519, 476, 566, 539, 702, 686, 559,
    547, 653, 721, 602, 550, 519, 666, 645, 646, 540, 652, 695, 739, 506, 699, 625, 541, 664,
  ],
  anyscale: [
    315, 401, 329, 408, 335, 190, 327, 182, 189, 294, 307, 208, 200, 199, 207, 196, 344, 197, 203, 185, 189, 201, 284,
    307, 398, 207, 293, 293, 402, 193, 184, 189, 191, 185, 294, 185, 201, 289, 308, 297, 205,
  ],
};
