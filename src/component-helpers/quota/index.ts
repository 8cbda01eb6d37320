// What counts against a resource quota: for admission, which refuses, and the controller, which counts anew.
export * from './scopes.ts';
export * from './usage.ts';
