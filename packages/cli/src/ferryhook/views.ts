/** The parts of Ferryhook's responses that commands read; --json prints the whole response. */
export interface Source {
  id: string
  name: string
  provider: string
  url: string
  status: string
  verifies: boolean
  hasSigningSecret: boolean
  signingAlgorithm: string | null
  dedup: FieldRule | null
  eventType: FieldRule | null
  credentialHeaders: string[]
  methods: string[]
  eventCount: number
  /** A server of another version may omit it. */
  eventCountIsLowerBound?: boolean
  lastEventAt: string | null
  createdAt: string
}

export type FieldRule =
  | { by: 'header'; name: string }
  | { by: 'path'; path: string }
  | { by: 'none' }

export interface Limits {
  concurrency?: number
  perSecond?: number
}

export interface Connection {
  id: string
  sourceId: string
  name: string
  destinationUrl: string
  filters: readonly unknown[]
  transform: { type: string }
  headerNames: readonly string[]
  /** Seconds before each attempt; null for the standard schedule. */
  retryConfig: readonly number[] | null
  limits: Limits
  /** Increased by each change. */
  rev: number
  status: string
  statusReason: string | null
  failingSince: string | null
  /** A server of another version may omit it. */
  circuit?: Circuit
  deliveryCount: number
  failureCount: number
  createdAt: string
}

export interface Circuit {
  state: 'closed' | 'open' | 'half_open'
  since: string | null
  nextAttemptAt: string | null
}

/** A request to the test destination. */
export interface TestRequest {
  number: number
  eventId: string
  attempt: number | null
  method: string
  statusCode: number
  bodyBytes: number
  receivedAt: string
}

export interface TestRequestDetail extends TestRequest {
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string
  encoding: 'utf-8' | 'base64'
}

export interface Event {
  id: string
  sourceId: string
  type: string | null
  status: string
  reason: string | null
  contentType: string | null
  bodyBytes: number
  deliveries: Readonly<Record<string, number>>
  receivedAt: string
}

export interface ListedEvent extends Event {
  sourceName: string
}

export interface Delivery {
  connectionId: string
  /** Only in the details of an event. */
  connectionName?: string | null
  state: string
  reason: string | null
  run: number
  attemptsMade: number
  nextAttemptAt: string | null
  updatedAt: string
}

export interface Attempt {
  number: number
  run: number
  connectionId: string
  connectionName: string | null
  /** 0 without a response. */
  statusCode: number
  latencyMs: number
  responseHeaders: Readonly<Record<string, string>> | null
  error: string | null
  attemptedAt: string
}

export interface EventDetail extends Omit<Event, 'deliveries'> {
  sourceName: string
  method: string
  query: string | null
  sourceIp: string
  body: string
  encoding: 'utf-8' | 'base64'
  expiresAt: string
  deliveries: readonly Delivery[]
  attempts: readonly Attempt[]
}

export interface Replay {
  id: string
  sourceId: string
  sourceName: string | null
  status: string | null
  type: string | null
  state: 'running' | 'done' | 'cancelled'
  /** Up to 1. */
  progress: number
  events: { examined: number; matched: number; unverified: number; gone: number }
  deliveries: { replayed: number; runOpen: number }
  createdAt: string
}

export interface Alerts {
  kinds: readonly string[]
  webhookUrl: string | null
  email: boolean
  failedAt: string | null
  failure: string | null
  /** Null if nothing is configured yet. */
  updatedAt: string | null
}

export interface ApiKey {
  id: string
  name: string
  prefix: string
  permissions: string
  lastUsedAt: string | null
  createdAt: string
}

export interface Page<T> {
  items: T[]
  cursor: string | null
}
