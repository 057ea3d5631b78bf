/** What people do with each service, as requests to the functions of a deployment. */
import { randomUUID } from 'node:crypto'
import { operationsTable } from '@strongroom/kit/operations-table'
import { expect } from 'vitest'
import type { Answer, EveryService, Operation } from '../../../server/test/every-service.ts'
import type { Deployment } from './deployment.ts'
import type { Destination } from './destination.ts'
import { signatureHeaders } from '../../../form-bridge/test/support/test-service.ts'

export interface TestDeployment {
  deployment: Deployment
  server: EveryService
  destination: Destination
  /** The token of the first admin. */
  admin: string
}

/** Calls the API of Ferryhook and expects success. */
export function ferryhookOf(server: EveryService, token: string) {
  return async (method: string, path: string, body?: object): Promise<Answer['body']> => {
    const given = { token, ...(body && { body }) }
    const answer = await server.ask(method, `/ferryhook/v1${path}`, given)
    expect([method, path, answer.status, answer.code]).toEqual([
      method,
      path,
      expect.toSatisfy((status: number) => status < 300),
      undefined,
    ])
    return answer.body
  }
}

/** A request that a site signs. */
export async function askAsSite(
  server: EveryService,
  site: { site_id: string; webhook_secret: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = signatureHeaders(site as never, method, path, bytes, { timestamp })
  return server.ask(method, `/form-bridge/v1${path}`, {
    ...(body && { body: bytes }),
    headers: { ...headers, 'content-type': 'application/json' },
  })
}

export function submission() {
  return {
    submission_id: randomUUID(),
    form_id: 'contact',
    submitted_at: new Date().toISOString(),
    fields: { message: 'Hello' },
  }
}

/** The address of an operation, with ids in the place of its parameters; undefined if one is missing. */
export function addressOf(
  { path }: Operation,
  ids: Readonly<Record<string, string>>,
): string | undefined {
  const [, noun = ''] = /\/v1\/([\w-]+)/.exec(path) ?? []
  let isComplete = true
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[`${noun}.${name}`] ?? ids[name]
    if (id === undefined) isComplete = false
    return id ?? ''
  })
  return isComplete ? address : undefined
}

/** The first entry of a month is written differently from all others. */
export async function forgetAuditHead({ db }: Pick<EveryService, 'db'>): Promise<void> {
  const month = new Date().toISOString().slice(0, 7)
  await db.deleteItem({
    TableName: operationsTable.name,
    Key: { PK: `AUDIT#${month}`, SK: 'HEAD' },
  })
}
