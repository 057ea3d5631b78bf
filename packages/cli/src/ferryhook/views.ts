/** The parts of Ferryhook's responses that commands read; --json prints the whole response. */
export interface Source {
  id: string
  name: string
  provider: string
  url: string
  status: string
  hasSigningSecret: boolean
  signingAlgorithm: string | null
  dedup: DedupRule | null
  credentialHeaders: string[]
  eventCount: number
  lastEventAt: string | null
  createdAt: string
}

export type DedupRule =
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
  status: string
  statusReason: string | null
  failingSince: string | null
  deliveryCount: number
  failureCount: number
  createdAt: string
}

export interface Event {
  id: string
  sourceId: string
  status: string
  reason: string | null
  contentType: string | null
  bodyBytes: number
  deliveries: Readonly<Record<string, number>>
  receivedAt: string
}

export interface Delivery {
  connectionId: string
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
  /** 0 without a response. */
  statusCode: number
  latencyMs: number
  error: string | null
  attemptedAt: string
}

export interface EventDetail extends Omit<Event, 'deliveries'> {
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
  status: string | null
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

export interface Page<T> {
  items: T[]
  cursor: string | null
}
