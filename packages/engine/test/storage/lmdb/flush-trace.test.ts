import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FORMAT_VERSION } from '../../../src/storage/lmdb/format.ts'
import { hasStrace, traceNames, unflushedNames } from '../../support/name-trace.ts'
import { bundle, start, temporaryDirectory } from '../../support/programs/harness.ts'

// Killing a process does not show a missing flush, since the page cache survives it; a trace does.
describe('durability', () => {
  test.skipIf(!hasStrace)(
    'a deletion of an encrypted item is acknowledged after its key is overwritten and flushed, once',
    { timeout: 120_000 },
    async () => {
      const directory = temporaryDirectory()
      const script = await bundle('acknowledge')
      const trace = join(directory, 'trace')
      const calls = 'trace=write,pwrite64,fdatasync,fsync'
      const slow = 'inject=fdatasync,fsync:delay_enter=20000'
      const command = ['strace', '-e', slow, '-f', '-y', '-s', '40', '-e', calls, '-o', trace]
      const data = join(directory, 'data')
      const program = start([...command, process.execPath, script, data, 'encrypted'])
      expect(await program.ended).toMatchObject({ code: 0 })
      let written = 0
      let flushed = 0
      const isFlushing = new Set<string>()
      const perDeletion: { written: number; flushed: number }[] = []
      for (const line of readFileSync(trace, 'utf8').split('\n')) {
        const [thread = ''] = line.split(' ')
        if (/pwrite64\(\d+<[^>]*item-keys\.bin>/.test(line)) written++
        const isKeyFlush = /fdatasync\(\d+<[^>]*item-keys\.bin>/.test(line)
        if (isKeyFlush && line.includes('<unfinished')) isFlushing.add(thread)
        else if (isKeyFlush) flushed++
        else if (line.includes('fdatasync resumed') && isFlushing.delete(thread)) flushed++
        if (line.includes('"deleted ')) perDeletion.push({ written, flushed })
        if (line.includes('"deleted ') || line.includes('"acknowledged 4')) written = flushed = 0
      }
      expect(perDeletion).toHaveLength(20)
      // The first may share it with keys that are being prepared.
      for (const counted of perDeletion.slice(1))
        expect(counted).toEqual({ written: 1, flushed: 1 })
    },
  )

  test.skipIf(!hasStrace)(
    'every acknowledgement comes after a flush of its writes, shared by concurrent ones',
    { timeout: 120_000 },
    async () => {
      const directory = temporaryDirectory()
      const script = await bundle('acknowledge')
      const trace = join(directory, 'trace')
      const calls = 'trace=openat,write,pwrite64,pwritev,writev,fdatasync,fsync,msync'
      // A slow flush makes an acknowledgement that does not wait for it come first.
      const slow = 'inject=fdatasync,fsync,msync:delay_enter=20000'
      const command = ['strace', '-e', slow, '-f', '-y', '-s', '40', '-e', calls, '-o', trace]
      const program = start([...command, process.execPath, script, join(directory, 'data')])
      expect(await program.ended).toMatchObject({ code: 0 })

      // LMDB flushes data with fdatasync and then writes its header through a descriptor opened with
      // O_DSYNC, each of whose writes is a flush in itself.
      const synchronous = new Set<string>()
      let dirty = false
      let flushes = 0
      const perBatch: number[] = []
      const premature: string[] = []
      for (const line of readFileSync(trace, 'utf8').split('\n')) {
        const opened = /openat\(.*data\.mdb", [A-Z_|]*O_DSYNC.* = (\d+)</.exec(line)
        if (opened) synchronous.add(opened[1]!)
        const written = /(?:pwrite64|pwritev|writev)\((\d+)<[^>]*data\.mdb>/.exec(line)
        if (written && !synchronous.has(written[1]!)) dirty = true
        // A call that blocks is printed in two parts; a flush counts when it has returned.
        const flushed = /(?:fdatasync|fsync|msync)(?:\(| resumed)/.test(line)
        if (flushed && !line.includes('<unfinished')) {
          dirty = false
          flushes++
        }
        if (line.includes('"asked ')) {
          perBatch.push(0)
          flushes = 0
        }
        if (line.includes('"acknowledged ')) {
          if (dirty || flushes === 0) premature.push(line)
          perBatch[perBatch.length - 1] = flushes
        }
      }
      expect(premature).toEqual([])
      expect(perBatch).toHaveLength(5)
      for (const count of perBatch) {
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThan(20)
      }
    },
  )

  test.skipIf(!hasStrace)(
    'the names of all new directories and files are flushed before the first acknowledgement',
    { timeout: 120_000 },
    async () => {
      const directory = temporaryDirectory()
      const script = await bundle('acknowledge')
      const trace = join(directory, 'trace')
      const data = join(directory, 'new', 'parent', 'data')
      const program = start([...traceNames(trace), process.execPath, script, data])
      expect(await program.ended).toMatchObject({ code: 0 })
      const opened = readFileSync(trace, 'utf8')
      for (const name of ['data.mdb', 'lock.mdb']) expect(opened).toContain(join(data, name))
      expect(unflushedNames(trace, directory, '"acknowledged ')).toEqual([])
    },
  )

  test.skipIf(!hasStrace)(
    'names that a killed start left are flushed by the next one',
    { timeout: 120_000 },
    async () => {
      const directory = temporaryDirectory()
      const data = join(directory, 'data')
      mkdirSync(data)
      for (const name of ['data.mdb', 'lock.mdb'])
        writeFileSync(join(data, name), '', { mode: 0o600 })
      const format = { name: 'strongroom-engine', format: FORMAT_VERSION }
      writeFileSync(join(data, 'format.json'), JSON.stringify(format))
      const script = await bundle('acknowledge')
      const trace = join(directory, 'trace')
      const program = start([...traceNames(trace), process.execPath, script, data])
      expect(await program.ended).toMatchObject({ code: 0 })
      const [before = ''] = readFileSync(trace, 'utf8').split('"acknowledged ')
      for (const flushed of [directory, data]) expect(before).toMatch(`<${flushed}>) = 0`)
    },
  )
})
