import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { localProgram } from './listen-server.ts'
import { withoutNotices } from './notices.ts'
import { emptyDirectory, launcher, start, strongroom } from './strongroom.ts'

const manual = (name: string) =>
  readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8')
const ferryhook = manual('ferryhook')
const blocks = [...manual('key-store').matchAll(/<!-- runs: (\S+) -->\n\n```sh\n(.*?)```\n/gs)].map(
  ([, name = '', text = '']) => ({ name, lines: text.trim().split('\n') }),
)

describe('the commands in the manuals', () => {
  test('are found', () => {
    expect(blocks.map(({ name }) => name)).toEqual(['keys'])
  })

  test.each(blocks)('run in sequence: $name', async ({ lines }) => {
    const cwd = await emptyDirectory()
    for (const line of lines) {
      const [, command = ''] = /^npx strongroom (.*?)(?: +# .*)?$/.exec(line) ?? []
      expect(command, line).not.toBe('')
      const { code, stderr } = await strongroom(command.split(' '), { cwd })
      expect([line, code, withoutNotices(stderr)]).toEqual([line, 0, ''])
    }
  })

  test.skipIf(process.platform === 'win32')(
    'take a webhook to its destination, twice, and a third time after the destination was away',
    async () => {
      const [first = '', stopped = '', again = ''] = [
        ...ferryhook.matchAll(/<!-- shell: ferryhook -->\n\n```sh\n(.*?)```\n/gs),
      ].map(([, script]) => script)
      const cwd = await emptyDirectory()
      const server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
      onTestFinished(() => void server.process.kill('SIGKILL'))
      const { url } = JSON.parse(await server.until('\n}\n')) as { url: string }
      let requests = 0
      // For the reader it is stopped; here it breaks the third connection.
      const program = await localProgram((response) =>
        ++requests === 3 ? response.destroy() : response.end(),
      )
      // Faster than a reader types, so a delivery may still be running.
      const becomes = `becomes() { until curl -sS "${url}/ferryhook/v1/events/$EVENT" \\
        -H "Authorization: Bearer $FERRYHOOK_API_KEY" | grep -q '"status":"'$1'"'; do sleep 0.1; done; }`
      const script = [
        becomes,
        first.replace(/^(?=npx strongroom events list)/m, 'becomes delivered\n'),
        'becomes delivered',
        stopped.replace(/^(?=npx strongroom events show)/m, 'becomes retrying\n'),
        again,
      ].join('\n')
      // What the reader has on fixed ports is somewhere else here.
      const here = script.replaceAll('http://127.0.0.1:3000', program.url)
      const npx = `#!/bin/sh
        shift
        [ "$1" = user ] || set -- "$@" --server "${url}"
        exec "${process.execPath}" "${launcher}" "$@"\n`
      await writeFile(join(cwd, 'npx'), npx, { mode: 0o755 })
      const { PATH, HOME } = process.env
      const shell = spawn('sh', ['-eu', '-c', here], {
        cwd,
        env: { PATH: `${cwd}:${PATH}`, HOME },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let printed = ''
      for (const stream of [shell.stdout, shell.stderr]) {
        stream.on('data', (text) => (printed += String(text)))
      }
      const [code] = (await once(shell, 'close')) as [number]
      expect(code, printed).toBe(0)
      await program.until(4)
      const ids = program.got.map(({ request }) => request.headers['webhook-id'])
      expect(ids).toEqual(Array(4).fill(expect.stringMatching(/^evt_/)))
      expect(new Set(ids).size).toBe(1)
      expect(printed).toMatch(/\nevt_\S+ +.+ delivered +My repository +ping +1 delivered /)
      expect(printed).toMatch(/ retrying \(\w+\) +3 +1 +in \d+ seconds\n/)
    },
  )
})
