// Rules about Services, the pods behind them and the slices that list them.
export * from './service-pods.ts';
export * from './slices.ts';
export * from './trigger-time.ts';
