/**
 * A function as Lambda runs it: from its zip in an empty directory, with the environment variables that
 * it documents and no others, and frozen while it handles no event.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'
import type { LambdaFunction } from '../../src/functions.ts'
import type { ResultHead } from '../../src/http-result.ts'

const bootstrap = fileURLToPath(new URL('lambda-bootstrap.mjs', import.meta.url))

type Message =
  | { kind: 'ready'; importMs: number }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'failed'; id: number; message: string }
  | { kind: 'head'; id: number; head: ResultHead }
  | { kind: 'chunk'; id: number; bytes: string }
  | { kind: 'end'; id: number }

export interface FunctionProcess {
  importMs: number
  invoke(event: object): Promise<unknown>
  /** For a function URL. */
  stream(event: object): FunctionStream
  output(): string
  close(): Promise<void>
}

export interface FunctionStream {
  head: Promise<ResultHead>
  /** What has been sent so far. */
  text(): string
  disconnect(): void
  /** Resolves when the invocation has ended. */
  ended: Promise<unknown>
}

export async function startFunction(
  { name, environment, timeoutSeconds }: LambdaFunction,
  { zip, env, keyId }: { zip: string; env: Record<string, string>; keyId: string },
): Promise<FunctionProcess> {
  const taskRoot = await mkdtemp(join(tmpdir(), 'strongroom-lambda-'))
  for (const [path, bytes] of Object.entries(unzipSync(await readFile(zip)))) {
    await writeFile(join(taskRoot, path), bytes)
  }
  const documented = Object.entries(env).filter(([variable]) => environment.includes(variable))
  const child = fork(bootstrap, [], {
    cwd: taskRoot,
    execArgv: [],
    silent: true,
    env: {
      LAMBDA_TASK_ROOT: taskRoot,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: 'secret',
      ...Object.fromEntries(documented),
    },
  })
  let output = ''
  child.stdout?.on('data', (text) => (output += text))
  child.stderr?.on('data', (text) => (output += text))
  const settlers = new Map<number, (message: Message) => void>()
  const ready = new Promise<number>((resolve, reject) => {
    child.on('message', (message: Message) => {
      if (message.kind === 'ready') resolve(message.importMs)
      else settlers.get(message.id)?.(message)
    })
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${output}`)))
  })
  const importMs = await ready
  let ids = 0
  let running = 0

  function start(
    event: object,
    onPart?: (message: Message) => void,
  ): { id: number; ended: Promise<unknown> } {
    const id = ++ids
    running++
    child.kill('SIGCONT')
    const ended = new Promise((resolve, reject) => {
      settlers.set(id, (message) => {
        if (message.kind !== 'result' && message.kind !== 'failed') return onPart?.(message)
        settlers.delete(id)
        if (--running === 0) child.kill('SIGSTOP')
        if (message.kind === 'result') resolve(message.result)
        else reject(new Error(`${name} failed: ${message.message}\n${output}`))
      })
    })
    child.send({ id, event, timeoutMs: timeoutSeconds * 1000 })
    return { id, ended }
  }

  return {
    importMs,
    invoke: (event) => start(event).ended,
    stream(event) {
      let text = ''
      let resolveHead: (head: ResultHead) => void = () => {}
      const head = new Promise<ResultHead>((resolve) => (resolveHead = resolve))
      const { id, ended } = start(event, (message) => {
        if (message.kind === 'head') resolveHead(message.head)
        if (message.kind === 'chunk') text += Buffer.from(message.bytes, 'base64').toString()
      })
      return {
        head,
        text: () => text,
        disconnect: () => void child.send({ id, disconnect: true }),
        ended,
      }
    },
    output: () => output,
    async close() {
      const exited = child.exitCode === null ? once(child, 'exit') : undefined
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await exited
      await rm(taskRoot, { recursive: true })
    },
  }
}
