/** The fake upstream without its journal, on a port of its own. */
import { startFakeUpstream } from "../../tests/kit/fake-upstream/server";

console.log(`listening ${startFakeUpstream({ journal: false }).url}`);
