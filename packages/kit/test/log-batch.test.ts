import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { batchLines, createLog } from '../src/log.ts'

/** A log whose timer and process exit the test controls. */
function logged() {
  const written: string[] = []
  const later: (() => void)[] = []
  const exits: (() => void)[] = []
  const sink = batchLines((text) => written.push(text), {
    later: (run) => void later.push(run),
    exit: (run) => void exits.push(run),
  })
  const messages = () =>
    written.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message),
    )
  return { log: createLog({ sink, pretty: false }), later, exits, messages }
}

test('lines are written in batches, in their order', () => {
  const { log, later, messages } = logged()
  log.info('one')
  log.info('two')
  expect(messages()).toEqual([])
  for (const write of later.splice(0)) write()
  expect(messages()).toEqual([['one', 'two']])
  log.info('three')
  expect(later).toHaveLength(1)
  for (const write of later.splice(0)) write()
  expect(messages()).toEqual([['one', 'two'], ['three']])
})

test('warnings and errors are written immediately, after the lines before them', () => {
  const { log, later, messages } = logged()
  log.info('one')
  log.error('two')
  log.warn('three')
  expect(messages()).toEqual([['one', 'two'], ['three']])
  for (const write of later.splice(0)) write()
  expect(messages()).toEqual([['one', 'two'], ['three']])
})

test('the rest is written when the process exits', () => {
  const { log, later, exits, messages } = logged()
  log.info('one')
  for (const exit of exits) exit()
  for (const write of later) write()
  expect(messages()).toEqual([['one']])
})

test('a full batch is written without waiting', () => {
  const { log, messages } = logged()
  for (let n = 0; n < 2000; n++) log.info('one of very many')
  expect(messages().flat().length).toBeGreaterThan(1000)
})

test.each([
  ['ends by itself', ''],
  ['exits', 'process.exit(0)'],
  ['fails with an uncaught exception', 'throw new Error("The end")'],
  ['fails with an unhandled rejection', 'void Promise.reject(new Error("The end"))'],
])('no line is lost when the process %s', async (_, end) => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { batchLines, createLog } from './log.ts'
        const log = createLog({ sink: batchLines((text) => void process.stdout.write(text)) })
        for (let n = 0; n < 100; n++) log.info('Request', { n })
        ${end}`,
      resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
  })
  const program = outputFiles.map(({ text }) => text).join('')
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout.toString().trimEnd().split('\n')).toHaveLength(100)
})
