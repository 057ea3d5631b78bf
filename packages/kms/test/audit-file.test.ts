import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openAuditFile } from '../src/audit.ts'
import { verifyAudit } from '../src/audit-verify.ts'
import { freshDirectory, freshKms } from './support/kms.ts'

const run = promisify(execFile)

const event = (operation: string, context: Record<string, string> = {}) => ({
  time: 0,
  operation,
  caller: 'test',
  outcome: 'Success',
  key: 'arn',
  context,
})

function opened(path: string) {
  const file = openAuditFile(path)
  onTestFinished(() => file.close())
  return file
}

/** A file with this many records, by one writer. */
function freshFile(records = 5) {
  const path = join(freshDirectory(), 'audit.jsonl')
  const file = opened(path)
  for (let n = 0; n < records; n += 1) file.audit(event(`Call${n}`))
  const lines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const rewrite = (kept: string[]) => writeFileSync(path, kept.map((line) => `${line}\n`).join(''))
  return { path, file, lines, rewrite }
}

const kinds = async (path: string) => {
  const { findings } = await verifyAudit(path)
  return findings.map(({ line, kind }) => `${kind} ${line}`)
}

describe('an audit file', () => {
  test('holds one line of JSON for each call of a KMS, and verifies', async () => {
    const path = join(freshDirectory(), 'audit.jsonl')
    const { audit } = opened(path)
    const { kms, arn } = await freshKms({ audit })
    await kms.encrypt({ KeyId: arn, Plaintext: Buffer.from('x'), EncryptionContext: { a: 'b' } })
    const records = readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    expect(records).toEqual([
      expect.objectContaining({ seq: 1, operation: 'CreateKey', previous: '0'.repeat(64) }),
      expect.objectContaining({
        seq: 2,
        time: '2100-01-01T00:00:00.000Z',
        operation: 'Encrypt',
        caller: 'in-process',
        key: arn,
        context: { a: 'b' },
        outcome: 'Success',
        previous: records[0].hash,
      }),
    ])
    expect(await verifyAudit(path)).toEqual({ records: 2, last: records[1].hash, findings: [] })
  })

  test('is readable for its owner only, also if it was not before', () => {
    const { path } = freshFile()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o644)
    opened(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('is continued after a restart', async () => {
    const { path, lines } = freshFile(3)
    opened(path).audit(event('Later'))
    expect(JSON.parse(lines()[3] ?? '')).toMatchObject({
      operation: 'Later',
      seq: 1,
      previous: JSON.parse(lines()[2] ?? '').hash,
    })
    expect(await kinds(path)).toEqual([])
  })

  test('is continued after a record that is longer than one read', async () => {
    const { path, file } = freshFile(1)
    file.audit(event('Long', { a: 'x'.repeat(100_000) }))
    opened(path).audit(event('Later'))
    expect(await verifyAudit(path)).toMatchObject({ records: 3, findings: [] })
  })

  test('verifies whatever contexts hold', async () => {
    const { path, file } = freshFile(0)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        file.audit(event('Call', { value, [value]: '\u2028\n\r' }))
      }),
      { numRuns: 100 },
    )
    expect(await verifyAudit(path)).toMatchObject({ records: 100, findings: [] })
  })

  test('of nothing verifies', async () => {
    const { path } = freshFile(0)
    expect(await verifyAudit(path)).toEqual({ records: 0, last: '0'.repeat(64), findings: [] })
  })
})

describe('tampering shows', () => {
  test('as a missing line, wherever it was but at the end', async () => {
    const { path, lines, rewrite } = freshFile(6)
    const all = lines()
    for (let at = 0; at < 5; at += 1) {
      rewrite(all.toSpliced(at, 1))
      expect(await kinds(path)).toEqual([`missing ${at + 1}`])
    }
    rewrite(all.slice(3))
    expect(await kinds(path)).toEqual(['missing 1'])
  })

  test('as the missing lines of a whole run', async () => {
    const { path, lines, rewrite } = freshFile(2)
    opened(path).audit(event('Second run'))
    opened(path).audit(event('Third run'))
    rewrite(lines().toSpliced(2, 1))
    expect(await kinds(path)).toEqual(['missing 3'])
  })

  test('as an altered line that was given a hash that fits it', async () => {
    const { path, lines, rewrite } = freshFile(3)
    const [first = '', second = '', third = ''] = lines()
    const content = `${second.replace('Call1', 'Other').split(',"hash"')[0]}}`
    const hash = createHash('sha256').update(content).digest('hex')
    rewrite([first, `${content.slice(0, -1)},"hash":"${hash}"}`, third])
    expect(await kinds(path)).toEqual(['missing 3'])
  })

  test('at the end by the hash of the last record, which was kept elsewhere', async () => {
    const { path, lines, rewrite } = freshFile(6)
    const { last } = await verifyAudit(path)
    rewrite(lines().slice(0, -1))
    expect(await kinds(path)).toEqual([])
    expect((await verifyAudit(path)).last).not.toBe(last)
  })

  test('as an altered line, in any of its characters', async () => {
    const { path, lines, rewrite } = freshFile(3)
    const all = lines()
    const [, victim = ''] = all
    for (let at = 0; at < victim.length - 1; at += 5) {
      const other = victim[at] === 'x' ? 'y' : 'x'
      rewrite(all.with(1, `${victim.slice(0, at)}${other}${victim.slice(at + 1)}`))
      expect(await kinds(path), `${at}`).toEqual([
        expect.stringMatching(/^(altered|torn) 2$/),
        'missing 3',
      ])
    }
  })

  test('as a line that was moved or repeated', async () => {
    const { path, lines, rewrite } = freshFile(4)
    const [a = '', b = '', c = '', d = ''] = lines()
    rewrite([a, c, b, d])
    expect(await kinds(path)).not.toEqual([])
    rewrite([a, b, b, c, d])
    expect(await kinds(path)).toContain('missing 3')
  })

  test('when the file was removed or emptied under a running writer', async () => {
    const { path, file } = freshFile(3)
    rmSync(path)
    file.audit(event('After'))
    expect(await kinds(path)).toEqual(['missing 1'])
    writeFileSync(path, '')
    file.audit(event('After'))
    expect(await kinds(path)).toEqual(['missing 1'])
  })

  test('as lines that are no records at all', async () => {
    const { path } = freshFile(2)
    appendFileSync(path, '5\n{}\n')
    expect(await kinds(path)).toEqual(['altered 3', 'altered 4'])
  })
})

describe('a line that a crash cut short', () => {
  test('is a finding of its own, and the next writer continues after it', async () => {
    const { path, lines } = freshFile(3)
    const whole = readFileSync(path, 'utf8')
    for (let cut = 2; cut < (lines()[2] ?? '').length; cut += 7) {
      writeFileSync(path, whole.slice(0, -cut))
      expect(await kinds(path)).toEqual(['torn 3'])
    }
    const later = opened(path)
    later.audit(event('Later'))
    later.audit(event('Later still'))
    expect(await kinds(path)).toEqual(['torn 3'])
    expect(lines()).toHaveLength(5)
    expect(await verifyAudit(path)).toMatchObject({ records: 4 })
  })

  test('may be the only one', async () => {
    const { path } = freshFile(0)
    writeFileSync(path, '{"writer":"a')
    opened(path).audit(event('Later'))
    expect(await verifyAudit(path)).toMatchObject({ records: 1, findings: [{ kind: 'torn' }] })
  })
})

describe('several writers of one file', () => {
  test('in turns make one chain', async () => {
    const { path, file } = freshFile(1)
    const other = opened(path)
    for (let n = 0; n < 10; n += 1) (n % 3 ? file : other).audit(event(`Call${n}`))
    expect(await verifyAudit(path)).toMatchObject({ records: 11, findings: [] })
  })

  test('may leave an empty line, where one saw half of what another was writing: no finding', async () => {
    const { path, lines, rewrite } = freshFile(3)
    const [one = '', two = '', three = ''] = lines()
    rewrite([one, '', two, three])
    expect(await verifyAudit(path)).toMatchObject({ records: 3, findings: [] })
    rewrite([one, '', three])
    expect(await kinds(path)).toEqual(['missing 3'])
  })

  test('in processes of their own at the same time lose no record', async () => {
    const { path, lines, rewrite } = freshFile(0)
    const script = await bundled(`
      import { openAuditFile } from './audit.ts'
      const file = openAuditFile(process.argv[2])
      for (let n = 0; n < 300; n += 1) {
        file.audit({ time: 0, operation: 'Call', caller: 'test', outcome: 'Success' })
      }`)
    await Promise.all([1, 2, 3].map(() => run(process.execPath, [script, path])))
    expect(await verifyAudit(path)).toMatchObject({ records: 900, findings: [] })
    const all = lines()
    rewrite(all.toSpliced(200, 1))
    expect(await kinds(path)).not.toEqual([])
  })
})

/** A program on this package's sources, as a script that Node can run. */
async function bundled(program: string): Promise<string> {
  const outfile = join(freshDirectory(), 'program.mjs')
  await build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL('../src', import.meta.url)) },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return outfile
}
