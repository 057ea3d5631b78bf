/** What Ferryhook answers with, as far as commands look at it; --json prints all of it. */
export interface Source {
  id: string
  name: string
  provider: string
  url: string
  status: string
  hasSigningSecret: boolean
  signingAlgorithm: string | null
  eventCount: number
  lastEventAt: string | null
  createdAt: string
}

export interface Connection {
  id: string
  sourceId: string
  name: string
  destinationUrl: string
  filters: readonly unknown[]
  transform: { type: string }
  headerNames: readonly string[]
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
  /** 0 if there was no answer. */
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

export interface Page<T> {
  items: T[]
  cursor: string | null
}
