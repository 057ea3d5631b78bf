/** The HTTP client of safe-fetch. In its own file, because undici takes a tenth of the time of a start. */
import { Agent } from 'undici'
import { guardedConnector, type GuardOptions } from './guarded-connector.ts'

export function createAgent({
  maxHeaderBytes,
  ...guard
}: GuardOptions & { maxHeaderBytes: number }) {
  return new Agent({
    connect: guardedConnector(guard),
    maxHeaderSize: maxHeaderBytes,
    // An idle connection must not outlive a change of the DNS name for long, whatever the server asks.
    keepAliveMaxTimeout: 60_000,
    // The deadline of a request covers both; these two would not cover a slowly dripping body.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}
