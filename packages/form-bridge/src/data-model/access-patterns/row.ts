export type PatternRow = readonly [
  name: string,
  servedBy: string,
  key: string,
  index?: 'GSI1' | 'GSI2',
]
