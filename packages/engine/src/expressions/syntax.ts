/**
 * What the parsers produce: expressions as written, with placeholders unresolved, so that one
 * parse serves every request that sends the same text.
 */

export type ExpressionKind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'UpdateExpression'
  | 'ProjectionExpression'

/**
 * Attribute names, `#placeholders` and list indexes; only a placeholder begins with '#'. An index
 * that no list can have is a bigint, and refused before the path is used.
 */
export interface PathSyntax {
  readonly type: 'path'
  readonly parts: readonly (string | number | bigint)[]
}

export interface ValueSyntax {
  readonly type: 'value'
  /** With its colon. */
  readonly placeholder: string
}

export interface CallSyntax {
  readonly type: 'call'
  readonly name: string
  readonly operands: readonly OperandSyntax[]
}

export type OperandSyntax = PathSyntax | ValueSyntax | CallSyntax

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

export type ConditionSyntax =
  | CallSyntax
  | {
      readonly type: 'compare'
      readonly comparator: Comparator
      readonly left: OperandSyntax
      readonly right: OperandSyntax
    }
  | {
      readonly type: 'between'
      readonly operand: OperandSyntax
      readonly low: OperandSyntax
      readonly high: OperandSyntax
    }
  | {
      readonly type: 'in'
      readonly operand: OperandSyntax
      readonly choices: readonly OperandSyntax[]
    }
  /** `count` is how many NOT stand in a row. */
  | { readonly type: 'not'; readonly count: number; readonly condition: ConditionSyntax }
  | { readonly type: 'and' | 'or'; readonly conditions: readonly ConditionSyntax[] }

export interface ArithmeticSyntax {
  readonly type: 'arithmetic'
  readonly operator: '+' | '-'
  readonly left: OperandSyntax
  readonly right: OperandSyntax
}

export type ActionSyntax =
  | {
      readonly type: 'SET'
      readonly path: PathSyntax
      readonly value: OperandSyntax | ArithmeticSyntax
    }
  | { readonly type: 'REMOVE'; readonly path: PathSyntax }
  | { readonly type: 'ADD' | 'DELETE'; readonly path: PathSyntax; readonly value: ValueSyntax }

export interface UpdateSyntax {
  readonly actions: readonly ActionSyntax[]
  /** The first section that is written twice, if there is one. */
  readonly repeatedSection?: string
}
