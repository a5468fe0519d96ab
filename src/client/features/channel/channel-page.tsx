import { useRoute } from "wouter";
import { lazy, WhileLoading } from "../../lib/lazy";
import { ChannelList } from "./channel-list";
import { FormSkeleton } from "./channel-loading";

// The form is as large as the list, so each is a chunk of its own.
const AddChannelPage = lazy(async () => ({ default: (await import("./channel-form-page")).AddChannelPage }));
const EditChannelPage = lazy(async () => ({ default: (await import("./channel-form-page")).EditChannelPage }));

/** /channel, /channel/add and /channel/edit/{id}. */
export default function ChannelPage() {
  const [adding] = useRoute("/channel/add");
  const [editing, params] = useRoute<{ id: string }>("/channel/edit/:id");
  if (!adding && !editing) return <ChannelList />;
  return (
    <WhileLoading
      show={
        <div className="mx-auto w-full max-w-[768px] p-6">
          <FormSkeleton />
        </div>
      }
    >
      {editing ? <EditChannelPage key={params.id} id={params.id} /> : <AddChannelPage />}
    </WhileLoading>
  );
}
