import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadCompiledProgram } from '../src/compiled-program.ts'

const SOURCE = `(function (require, module, moduleUrl) {
  const { basename } = require('node:path')
  module.exports = { runProgram: async (argv) => argv.length + basename(moduleUrl).length }
})`

let directory: string
let file: string
/** What the program wants to do later. */
let saves: (() => void)[]

const load = (...argv: string[]) =>
  loadCompiledProgram(argv, {
    file,
    startTimer(_, fire) {
      saves.push(fire)
      return () => {}
    },
  })

async function save(): Promise<void> {
  for (const each of saves.splice(0)) each()
  await vi.waitFor(async () => {
    const names = await readdir(directory)
    expect(names.some((name) => name.endsWith('.cache'))).toBe(true)
  })
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'compiled-program-'))
  file = join(directory, 'program-ABC.cjs')
  await writeFile(file, SOURCE)
  saves = []
})
afterEach(() => rm(directory, { recursive: true }))

describe('the compiled program', () => {
  it('runs from its source first, saves its compiled code, and runs from that afterwards', async () => {
    const first = load('serve')
    expect(await first?.runProgram(['serve'])).toBe(1 + 'program-ABC.cjs'.length)
    await save()

    const second = load('serve')
    expect(await second?.runProgram(['serve'])).toBe(1 + 'program-ABC.cjs'.length)
    expect(saves).toEqual([])
  })

  it('runs from its source and saves again if the compiled code is damaged', async () => {
    const cache = join(directory, `program-ABC-serve-${cachedDataVersionTag()}.cache`)
    await writeFile(cache, Buffer.alloc(1000))

    const program = load('serve')
    expect(await program?.runProgram([])).toBe('program-ABC.cjs'.length)
    expect(saves).toHaveLength(1)
  })

  it('has compiled code for each command, because each runs other functions', async () => {
    load('serve')
    await save()
    load('worker')
    expect(saves).toHaveLength(1)
  })

  it('is not for commands that load few modules', () => {
    expect(load('sources', 'list')).toBeUndefined()
    expect(load()).toBeUndefined()
  })

  it('is not there in a program that was not bundled', () => {
    expect(loadCompiledProgram(['serve'])).toBeUndefined()
  })
})
