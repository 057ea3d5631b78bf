import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshEngine, plain } from '../../support/engine.ts'

function everything(directory: string): Buffer {
  return Buffer.concat(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
  )
}

describe('secure deletion', () => {
  test('a smoke test', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, SecureDeleteEnabled: true })
    await engine.putItem({ TableName: 'plain', Item: { id: 'a', text: 'PLAINTEXT-MARKER' } })
    expect(await engine.getItem({ TableName: 'plain', Key: { id: 'a' } })).toEqual({
      Item: { id: 'a', text: 'PLAINTEXT-MARKER' },
    })
    for (let i = 0; i < 300; i++) {
      await engine.putItem({ TableName: 'plain', Item: { id: `a${i % 7}`, text: 'PLAINTEXT-MARKER', i } })
    }
    await Promise.all(Array.from({ length: 500 }, (_, i) => engine.putItem({ TableName: 'plain', Item: { id: `b${i}`, i } })))
    const { Items } = await engine.scan({ TableName: 'plain' })
    expect(Items).toHaveLength(508)
    await Promise.all(Array.from({ length: 500 }, (_, i) => engine.deleteItem({ TableName: 'plain', Key: { id: `b${i}` } })))
    expect((await engine.scan({ TableName: 'plain' })).Items).toHaveLength(8)
    expect(everything(engine.storage.directory).includes('PLAINTEXT-MARKER')).toBe(false)
    for (const { key, value } of engine.storage.environment.meta.getRange({ start: ['slot'], end: ['slot!'] })) console.log(key, JSON.stringify(value).slice(0, 200))
  })
})
