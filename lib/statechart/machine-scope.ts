/**
 * What expressions see of a running machine: `context`, `event`, `input`, and SCXML's system variables.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { toCel, type CelValue } from "./cel/view";
import type { Execution, ExecutionScope, MachineEvent } from "./execution";

export class MachineScope implements ExecutionScope {
  params: unknown = undefined;
  private contextSeen: JsonObject | null = null;
  private contextView: CelValue = null;
  private seen: MachineEvent | null = null;
  private eventView: CelValue = null;
  private scxmlSeen: MachineEvent | null = null;
  private scxmlView: CelValue = null;

  constructor(readonly execution: Execution) {}

  get context(): CelValue {
    const { context } = this.execution;
    if (this.contextView === null || this.contextSeen !== context) {
      this.contextSeen = context;
      this.contextView = toCel(context);
    }
    return this.contextView;
  }
  get event(): CelValue {
    const { event } = this.execution;
    if (event === null) return null;
    if (this.seen !== event) {
      this.seen = event;
      this.eventView = toCel(nativeEvent(event, this.execution));
    }
    return this.eventView;
  }
  get input(): CelValue {
    return toCel(this.execution.session.input);
  }
  get _event(): CelValue {
    const { event } = this.execution;
    if (event === null) return null;
    if (this.scxmlSeen !== event) {
      this.scxmlSeen = event;
      this.scxmlView = toCel(scxmlEvent(event));
    }
    return this.scxmlView;
  }
  get _sessionid(): CelValue {
    return this.execution.session.id;
  }
  get _name(): CelValue {
    return this.execution.session.name ?? "";
  }
  get _ioprocessors(): CelValue {
    return toCel(ioProcessors(this.execution.session.id));
  }
  isIn(name: string): boolean {
    return this.execution.isIn(name);
  }
}

/** `type`, `data`, `at`, `id` and a platform event's `output` win over fields of a map `data`. */
function nativeEvent(event: MachineEvent, { at, stepId }: Execution): JsonObject {
  const data = event.data ?? null;
  const fields = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
  const view: JsonObject = { type: event.type, data, at, id: event.id ?? stepId };
  if (isPlatformType(event.type)) view.output = data;
  // Key by key: spreading into a literal costs V8 a thousand bytes and microseconds.
  for (const key of Object.keys(fields)) {
    if (key !== "output" && key !== "__proto__" && !Object.hasOwn(view, key)) view[key] = fields[key] as Json;
  }
  return view;
}

const isPlatformType = (type: string): boolean => /^(?:done\.(?:state|invoke)|error)(?:\.|$)/.test(type);

/** SCXML 5.10.1: every field is there, null for none. */
function scxmlEvent(event: MachineEvent): JsonObject {
  const orNull = (value: Json | undefined): Json => value ?? null;
  return {
    name: event.type,
    type: event.from,
    sendid: orNull(event.sendid),
    origin: orNull(event.origin),
    origintype: orNull(event.origintype),
    invokeid: orNull(event.invokeid),
    data: orNull(event.data),
  };
}

const scxmlProcessor = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor";

function ioProcessors(sessionId: string): JsonObject {
  const location = `#_scxml_${sessionId}`;
  return { scxml: { location }, [scxmlProcessor]: { location } };
}
