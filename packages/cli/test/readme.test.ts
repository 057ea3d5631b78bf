import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { emptyDirectory, strongroom } from './strongroom.ts'

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
})
