import type { Item } from '@strongroom/engine/values/types'
import type { Engine } from '@strongroom/engine/engine'
import type { AwsDb } from '@strongroom/kit/aws-db'
import type * as kit from '@strongroom/kit/db'
import { describe, expectTypeOf, test } from 'vitest'

// Checked by the compiler: the engine and the kit know each other only by shape.
describe('the Db interface', () => {
  test('is implemented by both stores', () => {
    expectTypeOf<Engine>().toExtend<kit.Db>()
    expectTypeOf<AwsDb>().toExtend<kit.Db>()
  })

  test('has values and items of the same shape on both sides', () => {
    expectTypeOf<Item>().toExtend<kit.Item>()
    expectTypeOf<kit.Item>().toExtend<Item>()
  })

  test('allows only inputs that the engine accepts', () => {
    type Inputs<D, K extends keyof D> = {
      [Name in K]: D[Name] extends (input: infer Input) => unknown ? Input : never
    }
    expectTypeOf<Inputs<kit.Db, keyof kit.Db>>().toExtend<Inputs<Engine, keyof kit.Db>>()
  })
})
