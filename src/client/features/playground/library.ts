/** The conversations of the playground, and what can become of them. */
import { type Answer, type Conversation, newConversation, type Turn, withAnswer } from "./conversation";
import { readConversations } from "./storage";

export interface Library {
  conversations: Conversation[];
  /** The one on screen; always one of them. */
  current: string;
}

type Action =
  | { kind: "turns"; turns: Turn[] }
  | { kind: "answer"; id: string; change: (answer: Answer) => Answer }
  | { kind: "show"; id: string }
  | { kind: "add"; conversation: Conversation }
  | { kind: "remove"; id: string };

export function reduce(library: Library, action: Action): Library {
  const { conversations } = library;
  switch (action.kind) {
    case "turns":
      return {
        ...library,
        conversations: conversations.map((item) =>
          item.id === library.current ? { ...item, turns: action.turns, updated: Date.now() } : item,
        ),
      };
    case "answer":
      return { ...library, conversations: conversations.map((item) => withAnswer(item, action.id, action.change)) };
    case "show":
      return { ...library, current: action.id };
    case "add":
      // An empty conversation that is left need not be kept.
      return {
        conversations: [action.conversation, ...conversations.filter(({ turns }) => turns.length > 0)],
        current: action.conversation.id,
      };
    case "remove": {
      const left = conversations.filter((item) => item.id !== action.id);
      const first = left[0] ?? newConversation();
      return {
        conversations: left.length > 0 ? left : [first],
        current: library.current === action.id ? first.id : library.current,
      };
    }
  }
}

/** Opens with an empty conversation; the stored ones can be chosen from the list. */
export function openLibrary(userId: number): Library {
  const fresh = newConversation();
  return { conversations: [fresh, ...readConversations(userId)], current: fresh.id };
}
