"""The vendors' SDKs in Python, each as its documentation shows a loop of tools.

Reads one job a line from standard input and writes one outcome a line to standard output, both JSON:
{"id", "client", "url", "key", "model", "prompt"} and {"id", "ended", "says"}.
"""

import json
import sys
import threading

TURNS = 6
NAME = "read_note"
DESCRIPTION = "Reads one note."
PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Path of the note"}},
    "required": ["path"],
    "additionalProperties": False,
}


def read_note(arguments):
    with open(arguments["path"], encoding="utf-8") as note:
        return note.read()


def openai_chat(job):
    from openai import OpenAI

    client = OpenAI(base_url=job["url"] + "/v1", api_key=job["key"])
    messages = [{"role": "user", "content": job["prompt"]}]
    tools = [{"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}}]
    for _ in range(TURNS):
        content, calls = "", {}
        stream = client.chat.completions.create(
            model=job["model"],
            messages=messages,
            tools=tools,
            stream=True,
            reasoning_effort="medium",
            stream_options={"include_usage": True},
        )
        for chunk in stream:
            if not chunk.choices:
                continue
            delta = chunk.choices[0].delta
            content += delta.content or ""
            for piece in delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = piece.id or call["id"]
                call["name"] = piece.function.name or call["name"]
                call["arguments"] += piece.function.arguments or ""
        if not calls:
            return content
        messages.append(
            {
                "role": "assistant",
                "content": content,
                "tool_calls": [
                    {
                        "id": call["id"],
                        "type": "function",
                        "function": {"name": call["name"], "arguments": call["arguments"]},
                    }
                    for call in calls.values()
                ],
            }
        )
        for call in calls.values():
            note = read_note(json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": note})
    raise RuntimeError("the model does not end")


def openai_responses(job):
    from openai import OpenAI

    client = OpenAI(base_url=job["url"] + "/v1", api_key=job["key"])
    items = [{"role": "user", "content": job["prompt"]}]
    tools = [{"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS, "strict": True}]
    for _ in range(TURNS):
        with client.responses.stream(
            model=job["model"], input=items, tools=tools, store=False, include=["reasoning.encrypted_content"]
        ) as stream:
            response = None
            for event in stream:
                # A failure inside the stream does not raise.
                if event.type == "response.failed" and event.response.error:
                    raise RuntimeError(f"{event.response.error.code}: {event.response.error.message}")
                if event.type == "response.completed":
                    response = event.response
        if response is None:
            raise RuntimeError("the stream has no end")
        items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            note = read_note(json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": note})
    raise RuntimeError("the model does not end")


def anthropic_messages(job):
    from anthropic import Anthropic

    client = Anthropic(base_url=job["url"], api_key=job["key"])
    messages = [{"role": "user", "content": job["prompt"]}]
    tools = [{"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}]
    for _ in range(TURNS):
        with client.messages.stream(
            model=job["model"], max_tokens=8000, thinking={"type": "adaptive"}, messages=messages, tools=tools
        ) as stream:
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": read_note(call.input)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("the model does not end")


def google_genai(job):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=job["key"], http_options=types.HttpOptions(base_url=job["url"]))
    schema = {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]}
    declaration = types.FunctionDeclaration(name=NAME, description=DESCRIPTION, parameters=schema)
    chat = client.chats.create(
        model=job["model"],
        config=types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declaration])],
            thinking_config=types.ThinkingConfig(include_thoughts=True),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        ),
    )
    message = job["prompt"]
    for _ in range(TURNS):
        said, answers = "", []
        for chunk in chat.send_message_stream(message):
            content = chunk.candidates[0].content if chunk.candidates else None
            for part in (content.parts if content else None) or []:
                if part.text and not part.thought:
                    said += part.text
                if part.function_call:
                    note = read_note(part.function_call.args)
                    response = types.FunctionResponse(
                        id=part.function_call.id, name=part.function_call.name, response={"output": note}
                    )
                    answers.append(types.Part(function_response=response))
        if not answers:
            return said
        message = answers
    raise RuntimeError("the model does not end")


CLIENTS = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic_messages,
    "google_genai": google_genai,
}
writing = threading.Lock()


def words_of(error):
    facts = [getattr(error, name, None) for name in ("status_code", "code", "type")]
    told = " ".join(str(fact) for fact in facts if fact is not None)
    return f"{type(error).__name__} {told}: {error} {getattr(error, 'body', '') or ''}"


def serve(job):
    try:
        outcome = {"ended": "answered", "says": CLIENTS[job["client"]](job)}
    except Exception as error:  # every failure is an outcome
        outcome = {"ended": "failed", "says": words_of(error)}
    with writing:
        print(json.dumps({"id": job["id"], **outcome}), flush=True)


for line in sys.stdin:
    threading.Thread(target=serve, args=(json.loads(line),), daemon=True).start()
