/**
 * The three faces of the engine as targets, each with its own engine in a temporary directory.
 *
 * The in-process face does not accept SDK commands, so `plain-face.ts` adapts it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Engine, openEngine } from '../src/engine.ts'
import { serve } from '../src/wire/server.ts'
import { embedded } from '../src/wire/sdk.ts'
import { plainFace } from './plain-face.ts'
import type { Target } from './target.ts'

/** The AWS SDK on an engine in this process. */
export async function openDropIn(): Promise<Target> {
  const { engine, close } = await temporaryEngine()
  const client = new DynamoDBClient({ ...embedded(engine), maxAttempts: 1 })
  return { name: 'engine, SDK drop-in', kind: 'drop-in', client, close }
}

/** The AWS SDK over HTTP. */
export async function openHttp(): Promise<Target> {
  const { engine, close } = await temporaryEngine()
  const server = await serve(engine)
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
  return {
    name: 'engine, HTTP',
    kind: 'http',
    client,
    endpoint: server.url,
    async close() {
      client.destroy()
      await server.close()
      await close()
    },
  }
}

/** Plain values in process, behind an SDK client that translates. */
export async function openDb(): Promise<Target> {
  const { engine, close } = await temporaryEngine()
  const client = new DynamoDBClient({
    ...embedded(engine),
    requestHandler: plainFace(engine),
    maxAttempts: 1,
  })
  return { name: 'engine, in process', kind: 'db', client, close }
}

async function temporaryEngine(): Promise<{ engine: Engine; close: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'engine-conformance-'))
  const engine = await openEngine({ directory })
  return {
    engine,
    async close() {
      await engine.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
