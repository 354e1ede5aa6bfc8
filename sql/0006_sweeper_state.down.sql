DROP TABLE sweeper_state;
