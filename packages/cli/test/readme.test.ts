import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { localProgram } from './listen-server.ts'
import { emptyDirectory, launcher, start, strongroom } from './strongroom.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const blocks = [...readme.matchAll(/<!-- runs: (\S+) -->\n\n```sh\n(.*?)```\n/gs)].map(
  ([, name = '', text = '']) => ({ name, lines: text.trim().split('\n') }),
)

describe('the commands that the README shows', () => {
  test('are found', () => {
    expect(blocks.map(({ name }) => name)).toEqual(['keys'])
  })

  test.each(blocks)('run one after the other: $name', async ({ lines }) => {
    const cwd = await emptyDirectory()
    for (const line of lines) {
      const [, command = ''] = /^npx strongroom (.*?)(?: +# .*)?$/.exec(line) ?? []
      expect(command, line).not.toBe('')
      const { code, stderr } = await strongroom(command.split(' '), { cwd })
      expect([line, code, stderr]).toEqual([line, 0, ''])
    }
  })

  test.skipIf(process.platform === 'win32')(
    'take a webhook from its sender to its destination, twice',
    async () => {
      const [, script = ''] = /<!-- shell: ferryhook -->\n\n```sh\n(.*?)```\n/s.exec(readme) ?? []
      const [, setting = ''] = /^(FERRYHOOK_\S+ FERRYHOOK_\S+) npm start$/m.exec(readme) ?? []
      const env = Object.fromEntries(setting.split(' ').map((each) => each.split('=')))
      const cwd = await emptyDirectory()
      const server = start(['serve', '--json'], { cwd, env: { PORT: '0', ...env } })
      onTestFinished(() => void server.process.kill('SIGKILL'))
      const { url } = JSON.parse(await server.until('\n}\n')) as { url: string }
      const program = await localProgram()
      // What the reader has on fixed ports is somewhere else here.
      const here = script
        .replaceAll('http://127.0.0.1:4280', url)
        .replaceAll('http://127.0.0.1:3000', program.url)
        // Faster than the reader types: the delivery may still be under way.
        .replace(
          /^(?=api GET)/m,
          `until api GET "/events/$EVENT" | grep -q '"delivered"'; do sleep 0.1; done\n`,
        )
      const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${launcher}" "$@"\n`
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
      await program.until(2)
      const [first, second] = program.got.map(({ request }) => request.headers['webhook-id'])
      expect(first).toMatch(/^evt_/)
      expect(second).toBe(first)
      expect(printed).not.toContain('{"error"')
    },
  )
})
