/** The fake upstream without its journal, on its own port. */
import { startFakeUpstream } from "../../tests/kit/fake-upstream/server";

console.log(`listening ${startFakeUpstream({ journal: false }).url}`);
